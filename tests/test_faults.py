"""Faults in the article's scripts (A) and C# sample (S), each with the tests that show this app does not have it."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import pytest

TESTS = Path(__file__).parent

SCRIPTS = "stored_procedures"
POSTS = "propagation/test_posts.py"
USERS = "propagation/test_users.py"
NAMES = "data/test_username_reservations.py"
TRUNCATE = f"{SCRIPTS}/test_truncate_feed.py"
UPDATE = f"{SCRIPTS}/test_update_usernames.py"
COMMENT = f"{SCRIPTS}/test_create_comment.py"
LIKE = f"{SCRIPTS}/test_create_like.py"

FAULTS: dict[str, tuple[str, ...]] = {
    "A1 queries contain values instead of parameters": (
        f"{UPDATE}::test_a_hostile_user_id_renames_nothing",
        f"{UPDATE}::test_a_user_id_can_contain_a_quote",
        f"{UPDATE}::test_the_articles_script_lets_a_hostile_user_id_rename_everything",
    ),
    "A2 a rename processes only the first page of results": (
        f"{UPDATE}::test_items_on_all_pages_are_renamed",
        f"{UPDATE}::test_the_articles_script_renames_only_one_page",
    ),
    "A3 scripts do not check whether an operation was accepted": (
        f"{COMMENT}::test_a_refused_operation_rolls_back_comment_and_count",
        f"{COMMENT}::test_the_articles_script_counts_a_refused_comment",
        f"{LIKE}::test_a_refused_operation_rolls_back_like_and_count",
        f"{SCRIPTS}/test_deletions.py::test_a_refused_operation_rolls_back_a_deletion",
        f"{UPDATE}::test_repeated_calls_finish_an_interrupted_rename",
    ),
    "A4 a missing count becomes null": (
        f"{COMMENT}::test_the_first_comment_on_a_post_without_a_count_sets_it_to_one",
        f"{COMMENT}::test_the_articles_script_stores_null_for_a_missing_count",
        "functions/test_database_failures.py::test_lists_include_posts_without_username_and_counts",
    ),
    "A5 a comment on an unknown post fails with a script error": (
        f"{COMMENT}::test_a_comment_on_an_unknown_post_throws_404_and_writes_nothing",
        "functions/test_posts.py::test_unknown_post_ids_return_404_for_every_request",
        "functions/test_errors.py::test_404_and_409_return_problem_details",
    ),
    "A6 a user can like a post twice": (
        f"{LIKE}::test_a_repeated_like_counts_once_and_returns_the_first",
        f"{LIKE}::test_concurrent_likes_of_one_user_count_once",
        f"{LIKE}::test_the_articles_script_counts_a_double_click_twice",
        "functions/test_likes.py::test_a_repeated_like_returns_200_and_counts_once",
    ),
    "A7 posts, comments, and likes cannot be deleted": (
        "functions/test_likes.py::test_an_unlike_restores_the_count",
        "functions/test_comments.py::test_a_deleted_comment_leaves_the_list_and_the_count_immediately",
        "functions/test_posts.py::test_a_deleted_post_returns_404_immediately_and_leaves_the_lists_soon",
    ),
    "A8 the feed trigger treats a replacement as an insert": (
        f"{TRUNCATE}::test_a_replacement_in_a_full_feed_deletes_nothing",
        f"{TRUNCATE}::test_the_articles_script_loses_a_post_on_a_replacement",
    ),
    "A9 editing an old post evicts a newer post from the feed": (
        f"{TRUNCATE}::test_an_old_post_does_not_enter_a_full_feed",
        f"{POSTS}::test_editing_an_old_post_does_not_evict_a_newer_one",
    ),
    "A10 scripts rely on queries that do not see their own writes": (
        f"{TRUNCATE}::test_an_insert_into_a_full_feed_deletes_the_oldest_post",
        f"{TRUNCATE}::test_a_replacement_in_a_full_feed_deletes_nothing",
    ),
    "A11 posts with the same date have no defined order": (
        f"{TRUNCATE}::test_posts_with_the_same_date_are_ordered_by_id",
        "functions/test_feed.py::test_the_feed_is_exactly_the_most_recent_of_all_posts",
        "functions/test_pages.py::test_pages_combine_to_the_whole_list_newest_first",
    ),
    "A12 an overfull feed is truncated in one transaction": (
        f"{TRUNCATE}::test_one_write_truncates_a_feed_with_thousands_of_posts",
        f"{TRUNCATE}::test_an_interrupted_truncation_keeps_the_write_and_the_next_write_continues",
    ),
    "A13 the feed grows if a write does not name the trigger": (
        f"{POSTS}::test_the_next_batch_trims_a_feed_that_is_too_long",
    ),
    "A14 deletions do not appear in the change feed": (
        f"{POSTS}::test_deleting_a_post_deletes_its_copies_and_expires_its_comments_and_likes",
        f"{POSTS}::test_deletions_refill_the_feed_with_the_next_posts",
        "functions/test_posts.py::test_a_deleted_post_returns_404_immediately_and_leaves_the_lists_soon",
    ),
    "A15 a comment created during a rename keeps the old username": (
        f"{POSTS}::test_a_comment_with_a_stale_username_is_corrected",
    ),
    "A16 a rename that fails midway is not finished": (
        f"{USERS}::test_a_fan_out_that_fails_midway_is_finished_by_the_next_delivery",
        "functions/test_crash.py::test_killing_the_app_during_every_kind_of_change_loses_nothing",
    ),
    "A17 changes are delivered twice or out of order": (
        f"{POSTS}::test_an_older_version_never_overwrites_a_newer_one",
        f"{POSTS}::test_a_redelivered_batch_writes_nothing",
        f"{POSTS}::test_a_late_delivery_does_not_restore_a_deleted_post",
        f"{USERS}::test_a_stale_rename_delivered_late_changes_no_name",
    ),
    "A18 writing copies triggers further changes": (
        "functions/test_change_feeds.py::test_a_post_and_a_like_cause_a_fixed_number_of_operations",
        f"{POSTS}::test_one_like_causes_a_bounded_number_of_batches",
        f"{USERS}::test_copies_and_reservations_are_skipped",
        f"{USERS}::test_a_rename_stops_causing_changes",
    ),
    "A19 dates have different widths, so they do not sort as text": (f"{POSTS}::test_copies_have_dates_of_one_width",),
    "A20 every like causes a write to the feed": (f"{POSTS}::test_a_hundred_likes_in_a_batch_cost_one_write_per_copy",),
    "A21 usernames are not unique and cannot be looked up": (
        f"{NAMES}::test_one_point_read_finds_the_user_of_a_username",
        "functions/test_users.py::test_a_taken_username_is_rejected_in_every_spelling",
        "functions/test_users.py::test_concurrent_registrations_of_a_username_have_one_winner",
    ),
    "A22 copies contain the full content": (
        f"{POSTS}::test_a_post_of_100_kb_has_small_copies",
        "shared/models/test_summary.py::test_a_grapheme_cluster_is_not_split",
        "shared/models/test_summary.py::test_a_summary_is_short_and_starts_like_the_content",
    ),
    "S1 anyone can sign in as any user": (
        "auth/test_tokens.py::test_an_invalid_token_returns_401_with_a_reason_but_no_token_text",
        "auth/test_ownership.py::test_a_caller_cannot_act_as_another_user",
        "auth/test_ownership.py::test_unauthenticated_commands_reveal_nothing",
        "auth/test_registration.py::test_a_second_registration_returns_409_with_the_users_location",
    ),
    "S2 a rename does not validate the username": (
        "functions/test_users.py::test_invalid_usernames_are_rejected",
        "functions/test_users.py::test_a_taken_username_is_rejected_in_every_spelling",
    ),
    "S3 a rename to a taken username causes a server error": (
        "functions/test_users.py::test_a_taken_username_is_rejected_in_every_spelling",
    ),
    "S4 a rename finds the account by its username": (
        f"{NAMES}::test_renaming_a_former_owner_leaves_the_new_owner_unchanged",
        "auth/test_registration.py::test_a_registration_can_be_retried_after_its_username_was_taken",
    ),
    "S5 a crash between writes leaves usernames reserved": (
        f"{NAMES}::test_a_crash_before_the_user_is_written_frees_the_username_after_a_minute",
        f"{NAMES}::test_a_crash_during_a_rename_leaves_both_usernames_usable",
        f"{NAMES}::test_one_of_many_concurrent_takeovers_gets_an_abandoned_username",
        "functions/test_idempotency.py::test_a_command_whose_response_was_lost_can_be_retried",
    ),
    "S6 an edit overwrites concurrent changes to counts and usernames": (
        "functions/test_posts.py::test_concurrent_edits_comments_likes_and_renames_lose_nothing",
        "functions/test_charges.py::test_a_request_costs_no_more_operations_than_promised",
    ),
    "S7 a double click creates two likes": ("functions/test_likes.py::test_concurrent_likes_of_one_user_count_once",),
    "S8 a read uses the wrong partition key and never finds an item": (
        "functions/test_change_feeds.py::test_a_post_and_a_like_cause_a_fixed_number_of_operations",
    ),
    "S9 a feed with room rejects older posts": (
        f"{POSTS}::test_a_feed_with_room_admits_older_posts",
        f"{POSTS}::test_the_feed_holds_the_hundred_newest_posts_in_any_order_of_delivery",
    ),
    "S10 an empty query page admits every post to the feed": (
        f"{POSTS}::test_editing_an_old_post_does_not_evict_a_newer_one",
        f"{TRUNCATE}::test_an_old_post_does_not_enter_a_full_feed",
    ),
    "S11 one invalid item loses its whole batch": (
        f"{POSTS}::test_a_bad_item_goes_to_failures_and_the_others_are_handled",
        f"{POSTS}::test_a_database_failure_is_raised_after_all_changes_are_tried",
    ),
    "S12 renames from before the first start are never processed": (
        f"{USERS}::test_a_rename_from_before_the_first_start_is_fanned_out",
        "functions/test_crash.py::test_killing_the_app_during_every_kind_of_change_loses_nothing",
    ),
    "S13 a rename misses a comment created after its query": (
        f"{POSTS}::test_a_comment_with_a_stale_username_is_corrected",
    ),
    # Pages have no forms that another site can send: commands are JSON, which no form produces.
    "S14 pages contain raw HTML and accept forged forms": (
        "site/test_hostile_text.py::test_hostile_text_in_every_field_is_shown_as_text",
        "site/test_markdown.py::test_markdown_cannot_contain_html_or_scripts",
        "site/test_headers.py::test_pages_have_security_headers",
        "functions/test_errors.py::test_a_body_without_a_json_content_type_returns_415",
    ),
    "S15 there are no size limits, pages, or deletions": (
        "functions/test_charges.py::test_the_charge_of_a_page_does_not_grow_with_the_list",
        "functions/test_errors.py::test_a_body_over_1_mib_returns_413_before_it_is_parsed",
        "functions/test_errors.py::test_all_invalid_fields_of_any_body_are_reported",
        "functions/test_posts.py::test_a_deleted_post_returns_404_immediately_and_leaves_the_lists_soon",
    ),
    "S16 the feed length is defined in several places": (
        f"{TRUNCATE}::test_script_and_app_have_one_feed_length",
        "propagation/test_feed_length.py::test_changing_the_feed_length_changes_trigger_and_handler",
    ),
    "S17 any error creates sample posts": (
        "management/test_manage.py::test_seed_if_empty_skips_a_database_with_users",
        "management/test_seed.py::test_a_seeded_blog_passes_verification",
    ),
    "S18 provisioning works only on Windows": (
        "management/test_provision.py::test_a_missing_container_is_created_with_its_scripts",
    ),
    "S19 a form saved twice creates two posts, and links lead to missing pages": (
        "functions/test_idempotency.py::test_a_retried_post_returns_the_first_post",
        "functions/test_idempotency.py::test_concurrent_commands_with_one_key_run_once",
        "functions/test_idempotency.py::test_a_command_whose_response_was_lost_can_be_retried",
        "functions/test_users.py::test_unknown_user_ids_return_404",
    ),
    "S20 all usernames are in one logical partition": (f"{NAMES}::test_registrations_spread_over_partition_keys",),
    # The app has no roles. It checks permissions on every request, and the issuer can withdraw a signing key.
    "S21 a revoked role stays valid": (
        "auth/test_ownership.py::test_unknown_resources_return_404_to_signed_in_callers",
        "auth/test_signing_keys.py::test_a_withdrawn_key_is_rejected_once_stale",
    ),
}


@cache
def _tests_in(file: Path) -> frozenset[str]:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    return frozenset(node.name for node in tree.body if isinstance(node, functions) and node.name.startswith("test_"))


def test_every_fault_is_listed_once() -> None:
    numbers = [name.split()[0] for name in FAULTS]

    assert numbers == [f"A{number}" for number in range(1, 23)] + [f"S{number}" for number in range(1, 22)]


@pytest.mark.parametrize("fault", FAULTS)
def test_tests_named_for_a_fault_exist(fault: str) -> None:
    nodes = FAULTS[fault]

    assert nodes
    for file, _, test in (node.partition("::") for node in nodes):
        assert test in _tests_in(TESTS / file), f"{file}::{test}"
