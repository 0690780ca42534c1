"""The faults of the article's scripts (A) and of its C# sample (S), each with the tests that ours does not have it.

The numbers are those of the list of scenarios that this project was begun with. What concerns web pages is
said to be open, in one sentence, until those are built.
"""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import pytest

TESTS = Path(__file__).parent

NO_PAGES = "There are no web pages yet; the API answers JSON alone."

SCRIPTS = "stored_procedures"
POSTS = "propagation/test_posts.py"
USERS = "propagation/test_users.py"
NAMES = "data/test_usernames.py"
TRUNCATE = f"{SCRIPTS}/test_truncate_feed.py"
UPDATE = f"{SCRIPTS}/test_update_usernames.py"
COMMENT = f"{SCRIPTS}/test_create_comment.py"
LIKE = f"{SCRIPTS}/test_create_like.py"

FAULTS: dict[str, tuple[str, ...] | str] = {
    "A1 values pasted into SQL": (
        f"{UPDATE}::test_a_hostile_user_id_renames_nobody",
        f"{UPDATE}::test_a_user_id_with_a_quote_is_a_user_id",
        f"{UPDATE}::test_the_articles_way_lets_a_hostile_user_id_rename_everybody",
    ),
    "A2 one page of a result": (
        f"{UPDATE}::test_more_items_than_a_page_holds_are_all_renamed",
        f"{UPDATE}::test_the_articles_way_renames_no_more_than_a_page",
    ),
    "A3 refused operations go unnoticed": (
        f"{COMMENT}::test_a_refused_operation_leaves_neither_count_nor_comment",
        f"{COMMENT}::test_the_articles_way_counts_a_comment_that_was_refused",
        f"{LIKE}::test_a_refused_operation_leaves_neither_count_nor_like",
        f"{SCRIPTS}/test_deletions.py::test_a_refused_operation_leaves_comment_and_count",
        f"{UPDATE}::test_a_script_that_is_stopped_says_so_and_calling_again_ends_the_work",
    ),
    "A4 a count that was not there becomes null": (
        f"{COMMENT}::test_a_post_without_a_count_has_one_comment_after_the_first",
        f"{COMMENT}::test_the_articles_way_stores_null_for_a_count_that_was_not_there",
        "functions/test_database_failures.py::test_a_posts_list_survives_an_item_from_before_names_and_counts",
    ),
    "A5 an unknown post is a script error": (
        f"{COMMENT}::test_a_comment_on_an_unknown_post_answers_404_and_writes_nothing",
        "functions/test_posts.py::test_an_id_that_no_post_has_is_unknown_to_every_request",
        "functions/test_errors.py::test_not_found_and_taken_are_problems_like_all_others",
    ),
    "A6 likes are not unique": (
        f"{LIKE}::test_a_repeated_like_counts_once_and_returns_the_first",
        f"{LIKE}::test_likes_of_one_user_that_race_count_once",
        f"{LIKE}::test_the_articles_way_counts_a_double_click_twice",
        "functions/test_likes.py::test_a_repeated_like_answers_200_with_the_first_one_and_counts_once",
    ),
    "A7 nothing can be taken back": (
        "functions/test_likes.py::test_like_unlike_and_the_count_is_back_where_it_was",
        "functions/test_comments.py::test_a_deleted_comment_is_gone_and_uncounted_at_once",
        "functions/test_posts.py::test_a_deleted_post_is_gone_from_every_request_at_once_and_from_the_lists_soon",
    ),
    "A8 a replacement is taken for an insert": (
        f"{TRUNCATE}::test_a_replacement_in_a_full_feed_takes_nothing_out",
        f"{TRUNCATE}::test_the_articles_way_loses_a_post_when_one_is_replaced",
    ),
    "A9 an edited old post evicts a newer one": (
        f"{TRUNCATE}::test_an_old_post_does_not_enter_a_full_feed",
        f"{POSTS}::test_an_edited_old_post_does_not_evict_a_newer_one",
    ),
    "A10 scripts depend on not seeing their own writes": (
        f"{TRUNCATE}::test_an_insert_into_a_full_feed_takes_the_oldest_out",
        f"{TRUNCATE}::test_a_replacement_in_a_full_feed_takes_nothing_out",
    ),
    "A11 ties have no order": (
        f"{TRUNCATE}::test_posts_of_one_moment_are_told_apart_by_id",
        "functions/test_feed.py::test_the_feed_is_exactly_the_most_recent_of_all_posts",
        "functions/test_pages.py::test_the_pages_together_are_the_list_newest_first",
    ),
    "A12 a feed far too long is drained in one transaction": (
        f"{TRUNCATE}::test_a_feed_far_too_long_is_cut_by_one_write",
        f"{TRUNCATE}::test_a_cut_that_is_stopped_keeps_the_write_and_the_next_one_goes_on",
    ),
    "A13 a trigger that was not named does not run": (
        f"{POSTS}::test_a_feed_that_grew_too_long_is_cut_by_the_next_batch",
    ),
    "A14 the change feed shows no deletions": (
        f"{POSTS}::test_a_deleted_post_leaves_users_and_feed_and_its_responses_expire",
        f"{POSTS}::test_after_deletions_the_feed_is_filled_up_with_the_next_ones",
        "functions/test_posts.py::test_a_deleted_post_is_gone_from_every_request_at_once_and_from_the_lists_soon",
    ),
    "A15 a rename races with new comments": (
        f"{POSTS}::test_a_comment_written_with_a_name_from_before_a_rename_is_corrected",
    ),
    "A16 a rename that fails half way": (
        f"{USERS}::test_a_carrying_that_fails_half_way_is_finished_by_the_next_delivery",
        "functions/test_crash.py::test_a_kill_in_the_middle_of_every_reaction_loses_nothing",
    ),
    "A17 changes delivered twice or out of order": (
        f"{POSTS}::test_an_older_state_never_overwrites_a_newer_one",
        f"{POSTS}::test_a_batch_delivered_twice_writes_nothing_the_second_time",
        f"{POSTS}::test_a_late_state_does_not_bring_a_deleted_post_back",
        f"{USERS}::test_a_former_rename_delivered_late_does_not_bring_its_name_back",
    ),
    "A18 copies wake the other feed": (
        "functions/test_reactions.py::test_a_post_and_a_like_cause_the_operations_they_must_and_then_nothing",
        f"{POSTS}::test_one_like_causes_a_bounded_number_of_writes",
        f"{USERS}::test_copies_and_reservations_cause_no_work",
        f"{USERS}::test_a_rename_is_carried_once_and_the_reaction_comes_to_rest",
    ),
    "A19 dates of several widths": (f"{POSTS}::test_dates_of_another_width_are_in_order_in_the_copies",),
    "A20 every like costs a feed write": (f"{POSTS}::test_a_hundred_likes_in_a_batch_are_one_write_of_each_copy",),
    "A21 usernames are neither unique nor to be looked up": (
        f"{NAMES}::test_the_user_of_a_name_is_found_by_one_point_read",
        "functions/test_users.py::test_a_name_that_someone_has_is_taken_in_every_spelling",
        "functions/test_users.py::test_of_many_who_register_one_name_at_once_one_gets_it",
    ),
    "A22 copies have the full content": (
        f"{POSTS}::test_a_post_of_a_hundred_kilobytes_has_small_copies",
        "shared/models/test_summary.py::test_a_character_of_several_code_points_is_kept_whole_or_left_out",
        "shared/models/test_summary.py::test_a_summary_is_never_too_long_and_begins_as_the_content_does",
    ),
    "S1 anyone may sign in as anyone": (
        "auth/test_tokens.py::test_a_token_that_does_not_hold_is_refused_with_its_reason_and_none_of_its_text",
        "auth/test_ownership.py::test_nobody_acts_as_someone_else",
        "auth/test_ownership.py::test_who_is_unknown_learns_nothing_of_any_command",
        "auth/test_registration.py::test_a_subject_has_one_user_and_is_told_where_it_is",
    ),
    "S2 a rename has no rules": (
        "functions/test_users.py::test_any_other_name_is_refused",
        "functions/test_users.py::test_a_name_that_someone_has_is_taken_in_every_spelling",
    ),
    "S3 a rename to a taken name is a server error": (
        "functions/test_users.py::test_a_name_that_someone_has_is_taken_in_every_spelling",
    ),
    "S4 a rename finds the account by a name": (
        f"{NAMES}::test_a_stale_page_cannot_rename_whoever_has_the_old_name_now",
        "auth/test_registration.py::test_a_registration_is_repeatable_after_its_name_went_to_someone_else",
    ),
    "S5 several writes without compensation": (
        f"{NAMES}::test_a_crash_before_the_user_is_written_frees_the_name_after_a_minute",
        f"{NAMES}::test_a_crash_in_a_rename_before_the_user_is_written_leaves_both_names_usable",
        f"{NAMES}::test_an_unconfirmed_reservation_expires_by_itself",
        "functions/test_idempotency.py::test_a_command_whose_answer_was_lost_can_be_repeated",
    ),
    "S6 an edit overwrites counts and names": (
        "functions/test_posts.py::test_edits_comments_likes_and_a_rename_at_once_lose_nothing",
        "functions/test_charges.py::test_a_request_costs_no_more_operations_than_promised",
    ),
    "S7 a double click likes twice": ("functions/test_likes.py::test_likes_of_one_user_at_once_count_once",),
    "S8 reads that never find anything": (
        "functions/test_reactions.py::test_a_post_and_a_like_cause_the_operations_they_must_and_then_nothing",
    ),
    "S9 a feed that is not full refuses older posts": (
        f"{POSTS}::test_posts_older_than_those_in_a_feed_that_is_not_full_are_admitted",
        f"{POSTS}::test_the_feed_is_the_hundred_most_recent_whatever_the_order_of_delivery",
    ),
    "S10 an empty page admits everything": (
        f"{POSTS}::test_an_edited_old_post_does_not_evict_a_newer_one",
        f"{TRUNCATE}::test_an_old_post_does_not_enter_a_full_feed",
    ),
    "S11 one bad item loses its batch": (
        f"{POSTS}::test_an_item_that_cannot_be_handled_is_kept_and_the_others_go_on",
        f"{POSTS}::test_when_the_database_fails_the_batch_is_thrown_back_after_all_have_been_tried",
    ),
    "S12 what came before the first start is never seen": (
        f"{USERS}::test_a_rename_from_before_the_functions_first_ran_is_carried",
        "functions/test_crash.py::test_a_kill_in_the_middle_of_every_reaction_loses_nothing",
    ),
    "S13 a comment between the list and the renaming": (
        f"{POSTS}::test_a_comment_written_with_a_name_from_before_a_rename_is_corrected",
    ),
    "S14 raw HTML and forged forms": NO_PAGES,
    "S15 no limits, no pages, no deletions": (
        "functions/test_charges.py::test_a_page_of_many_comments_costs_what_a_page_of_few_costs",
        "functions/test_errors.py::test_a_body_of_256_kib_is_taken_and_one_byte_more_is_not",
        "functions/test_errors.py::test_every_fault_of_any_body_is_named_at_once",
        "functions/test_posts.py::test_a_deleted_post_is_gone_from_every_request_at_once_and_from_the_lists_soon",
    ),
    "S16 the length of the feed stands in several places": (
        f"{TRUNCATE}::test_script_and_app_have_one_feed_length",
        "propagation/test_feed_length.py::test_a_feed_of_another_length_is_kept_at_that_length",
    ),
    "S17 sample posts on any error": (
        "management/test_manage.py::test_seed_if_empty_skips_a_database_with_users",
        "management/test_seed.py::test_a_seeded_blog_passes_verification",
    ),
    "S18 provisioning on one system only": (
        "management/test_provision.py::test_a_missing_container_is_created_with_its_scripts",
    ),
    "S19 resubmitted forms and dead ends": (
        "functions/test_idempotency.py::test_a_repeated_post_answers_the_first_one_and_is_written_once",
        "functions/test_idempotency.py::test_commands_with_one_key_at_once_are_carried_out_once",
        "functions/test_idempotency.py::test_a_command_whose_answer_was_lost_can_be_repeated",
        "functions/test_users.py::test_an_id_that_no_user_has_is_unknown_whatever_it_looks_like",
    ),
    "S20 all names in one logical partition": (f"{NAMES}::test_registrations_spread_over_partition_keys",),
    # There are no roles: what someone may do is looked up with every request, and who he is the issuer can take back.
    "S21 a role outlives its revocation": (
        "auth/test_ownership.py::test_what_is_unknown_is_unknown_to_whoever_has_signed_in",
        "auth/test_signing_keys.py::test_a_withdrawn_key_is_trusted_no_longer_than_keys_are_fresh",
    ),
}


@cache
def _tests_in(file: Path) -> frozenset[str]:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    return frozenset(node.name for node in tree.body if isinstance(node, functions) and node.name.startswith("test_"))


def test_every_fault_of_the_list_is_here_once() -> None:
    numbers = [name.split()[0] for name in FAULTS]

    assert numbers == [f"A{number}" for number in range(1, 23)] + [f"S{number}" for number in range(1, 22)]


@pytest.mark.parametrize("fault", [name for name, answer in FAULTS.items() if isinstance(answer, tuple)])
def test_the_tests_of_a_fault_exist(fault: str) -> None:
    nodes = FAULTS[fault]

    assert nodes
    for file, _, test in (node.partition("::") for node in nodes):
        assert test in _tests_in(TESTS / file), f"{file}::{test}"
