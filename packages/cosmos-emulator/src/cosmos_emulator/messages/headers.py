"""The names of the gateway's headers, in lower case (azure-cosmos http_constants.py)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

# Every request
REQUEST_DURATION_MS: Final = "x-ms-request-duration-ms"
ACTIVITY_ID: Final = "x-ms-activity-id"
AUTHORIZATION: Final = "authorization"
CONSISTENCY_LEVEL: Final = "x-ms-consistency-level"
CONTENT_TYPE: Final = "content-type"
DATE: Final = "date"
EXPIRY_SECONDS: Final = "x-ms-documentdb-expiry-seconds"
INTENDED_RID: Final = "x-ms-cosmos-intended-collection-rid"
THROUGHPUT_BUCKET: Final = "x-ms-cosmos-throughput-bucket"
VERSION: Final = "x-ms-version"
X_DATE: Final = "x-ms-date"

# Conditions
A_IM: Final = "a-im"
IF_MATCH: Final = "if-match"
IF_MODIFIED_SINCE: Final = "if-modified-since"
IF_NONE_MATCH: Final = "if-none-match"
PREFER: Final = "prefer"

# Operations sent as POST
IS_BATCH: Final = "x-ms-cosmos-is-batch-request"
IS_QUERY: Final = "x-ms-documentdb-isquery"
IS_QUERY_PLAN: Final = "x-ms-cosmos-is-query-plan-request"
IS_UPSERT: Final = "x-ms-documentdb-is-upsert"

# Scope and paging
CONTINUATION: Final = "x-ms-continuation"
END_EPK: Final = "x-ms-end-epk"
MAX_ITEM_COUNT: Final = "x-ms-max-item-count"
PARTITION_KEY: Final = "x-ms-documentdb-partitionkey"
PARTITION_KEY_RANGE_ID: Final = "x-ms-documentdb-partitionkeyrangeid"
START_EPK: Final = "x-ms-start-epk"

# Queries
CROSS_PARTITION: Final = "x-ms-documentdb-query-enablecrosspartition"
CONTINUATION_EXPECTED: Final = "x-ms-documentdb-query-iscontinuationexpected"
INDEX_UTILIZATION: Final = "x-ms-cosmos-index-utilization"
OPTIMISTIC_DIRECT: Final = "x-ms-cosmos-query-optimisticdirectexecute"
PARALLELIZE: Final = "x-ms-documentdb-query-parallelizecrosspartitionquery"
POPULATE_INDEX_METRICS: Final = "x-ms-cosmos-populateindexmetrics"
POPULATE_INDEX_METRICS_V2: Final = "x-ms-cosmos-populateindexmetrics-v2"
POPULATE_QUERY_METRICS: Final = "x-ms-documentdb-populatequerymetrics"
QUERY_EXECUTION_INFO: Final = "x-ms-cosmos-query-execution-info"
QUERY_METRICS: Final = "x-ms-documentdb-query-metrics"
REQUIRES_DISTRIBUTION: Final = "x-ms-cosmos-query-requiresdistribution"
RESPONSE_CONTINUATION_LIMIT: Final = "x-ms-documentdb-responsecontinuationtokenlimitinkb"
SUPPORTED_QUERY_FEATURES: Final = "x-ms-cosmos-supported-query-features"

# Batches, scripts, throughput
AUTOPILOT_SETTINGS: Final = "x-ms-cosmos-offer-autopilot-settings"
BATCH_ATOMIC: Final = "x-ms-cosmos-batch-atomic"
BATCH_CONTINUE_ON_ERROR: Final = "x-ms-cosmos-batch-continue-on-error"
ENABLE_SCRIPT_LOGGING: Final = "x-ms-documentdb-script-enable-logging"
EXCLUDE_SYSTEM_PROPERTIES: Final = "x-ms-exclude-system-properties"
INDEXING_DIRECTIVE: Final = "x-ms-indexing-directive"
MIGRATE_TO_AUTOSCALE: Final = "x-ms-cosmos-migrate-offer-to-autopilot"
MIGRATE_TO_MANUAL: Final = "x-ms-cosmos-migrate-offer-to-manual-throughput"
MIN_THROUGHPUT: Final = "x-ms-cosmos-min-throughput"
OFFER_REPLACE_PENDING: Final = "x-ms-offer-replace-pending"
OFFER_THROUGHPUT: Final = "x-ms-offer-throughput"
POST_TRIGGER: Final = "x-ms-documentdb-post-trigger-include"
PRE_TRIGGER: Final = "x-ms-documentdb-pre-trigger-include"
SCRIPT_LOG: Final = "x-ms-documentdb-script-log-results"

# Containers
POPULATE_QUOTA_INFO: Final = "x-ms-documentdb-populatequotainfo"
POPULATE_PARTITION_STATISTICS: Final = "x-ms-documentdb-populatepartitionstatistics"

# Specific to this emulator
MERGE_PARTITIONS: Final = "x-ms-cosmos-emulator-merge-partitions"

# Responses
ALT_CONTENT_PATH: Final = "x-ms-alt-content-path"
PARTITIONS: Final = "x-ms-cosmos-emulator-partitions"
CHARGE_MODEL: Final = "x-ms-cosmos-emulator-charge-model"
CONTENT_LOCATION: Final = "content-location"
CONTENT_PATH: Final = "x-ms-content-path"
CURRENT_REPLICA_SET_SIZE: Final = "x-ms-current-replica-set-size"
CURRENT_WRITE_QUORUM: Final = "x-ms-current-write-quorum"
ETAG: Final = "etag"
INDEX_PROGRESS: Final = "x-ms-documentdb-collection-index-transformation-progress"
ITEM_COUNT: Final = "x-ms-item-count"
ITEM_LSN: Final = "x-ms-item-lsn"
LSN: Final = "lsn"
REQUEST_CHARGE: Final = "x-ms-request-charge"
RESOURCE_QUOTA: Final = "x-ms-resource-quota"
RESOURCE_USAGE: Final = "x-ms-resource-usage"
RETRY_AFTER_MS: Final = "x-ms-retry-after-ms"
SESSION_TOKEN: Final = "x-ms-session-token"  # noqa: S105 - a header
SHARE_THROUGHPUT: Final = "x-ms-share-throughput"
SUB_STATUS: Final = "x-ms-substatus"


def wants_no_content(headers: Mapping[str, str]) -> bool:
    """Return whether write responses must omit the document."""
    preferences = headers.get(PREFER, "").lower().split(",")
    return any(one.strip() == "return=minimal" for one in preferences)
