-- The shop's data as every start finds it. Amounts are whole cents; total_cents is with tax.

CREATE TABLE products (
    sku TEXT PRIMARY KEY, name TEXT NOT NULL, note TEXT NOT NULL, price_cents INTEGER NOT NULL, tax_percent INTEGER NOT NULL
);
INSERT INTO products VALUES
    ('sencha', 'Sencha, first flush', 'Loose leaf, 100 g tin', 1450, 20),
    ('teapot', 'Cast-iron teapot', '0.8 litre, with a steel basket', 5400, 20),
    ('cups', 'Pair of stoneware cups', '180 ml, glazed by hand', 1850, 20),
    ('whisk', 'Bamboo whisk', 'Eighty tines, for matcha', 1200, 20),
    ('tray', 'Ash serving tray', 'Oiled wood, 34 × 22 cm', 2600, 20),
    ('strainer', 'Fine strainer', 'Stainless steel', 800, 20);

CREATE TABLE coupons (code TEXT PRIMARY KEY, percent INTEGER NOT NULL);
INSERT INTO coupons VALUES ('LEAF15', 15), ('WELCOME10', 10);

-- Personal data: the debug endpoint does not offer this table.
CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT NOT NULL, email TEXT NOT NULL);
INSERT INTO customers VALUES
    (1, 'Oskar Lind', 'oskar@example.com'),
    (2, 'Mara Keller', 'mara@example.com'),
    (3, 'Ines Duarte', 'ines@example.com'),
    (4, 'Tomas Novak', 'tomas@example.com'),
    (5, 'Aiko Mori', 'aiko@example.com');

CREATE TABLE orders (
    id INTEGER PRIMARY KEY, placed_at TEXT NOT NULL, customer_id INTEGER NOT NULL REFERENCES customers, coupon TEXT,
    subtotal_cents INTEGER NOT NULL, discount_cents INTEGER NOT NULL,
    tax_cents INTEGER NOT NULL, total_cents INTEGER NOT NULL
);
INSERT INTO orders VALUES
    (1001, '2025-08-19T09:12:00Z', 4, NULL, 5400, 0, 1080, 6480),
    (1002, '2025-08-20T17:40:00Z', 2, 'LEAF15', 4600, 690, 782, 4692),
    (1003, '2025-08-22T11:05:00Z', 1, 'WELCOME10', 5150, 515, 927, 5562),
    (1004, '2025-08-25T08:31:00Z', 5, NULL, 5150, 0, 1030, 6180),
    (1005, '2025-08-27T19:22:00Z', 3, 'LEAF15', 7250, 1088, 1232, 7394),
    (1006, '2025-08-29T14:58:00Z', 2, NULL, 5200, 0, 1040, 6240),
    (1007, '2025-08-30T10:03:00Z', 4, 'WELCOME10', 4100, 410, 738, 4428),
    (1008, '2025-09-01T12:47:00Z', 5, NULL, 8000, 0, 1600, 9600),
    (1009, '2025-09-02T16:15:00Z', 1, 'LEAF15', 9500, 1425, 1900, 9975),
    (1010, '2025-09-03T09:36:00Z', 3, NULL, 2650, 0, 530, 3180),
    (1011, '2025-09-04T20:11:00Z', 2, 'WELCOME10', 6300, 630, 1260, 6930),
    (1012, '2025-09-05T13:29:00Z', 4, 'LEAF15', 6900, 1035, 1380, 7245);
