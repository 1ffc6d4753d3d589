"""How a document begins; and answers of it that are worked on at once: the last one that came is what counts."""

from tests.pure.offers import home


def test_a_document_begins_unasked_and_free():
    document = home("http://a.test", "1").document

    assert (document.asked, document.has_offered, document.is_forced) == (False, False, False)
    assert (document.is_ready, document.is_stuck, document.wanted.is_set()) == (False, False, False)


def test_an_answer_is_told_unless_a_later_one_was():
    document = home("http://a.test", "1").document
    first, second = document.count_answer(), document.count_answer()

    assert [document.tell_answer(second), document.tell_answer(first)] == [True, False]
    assert document.tell_answer(document.count_answer())


def test_an_earlier_answer_is_told_while_a_later_one_is_still_worked_on():
    document = home("http://a.test", "1").document
    first, second = document.count_answer(), document.count_answer()

    assert [document.tell_answer(first), document.tell_answer(second)] == [True, True]


def test_an_answer_about_what_is_not_shown_any_more_is_not_told():
    document = home("http://a.test", "1").document
    before = document.count_answer()
    document.forget_answers()

    assert not document.tell_answer(before)
    assert document.tell_answer(document.count_answer())
