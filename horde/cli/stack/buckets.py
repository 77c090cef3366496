"""Buckets made ready before the services start: they exist, and a first signed write has gone through.

The first write after a restart of the embedded server can wait five seconds; better here than in a request.
"""

from collections.abc import Collection
from typing import TYPE_CHECKING

from horde.failures import StartError

if TYPE_CHECKING:
    from types_boto3_s3.client import S3Client
    from types_boto3_s3.type_defs import CORSRuleTypeDef

WARM_UP_KEY = ".horde-warm-up"
TIMEOUT_SECONDS = 15  # three times the longest first write seen


def client(endpoint: str, access_key: str, secret_key: str, region: str) -> "S3Client":
    """A boto3 client that signs in the v4 way and addresses buckets by path, as every S3-compatible server allows."""
    import boto3
    from botocore.config import Config

    return boto3.client(
        "s3",
        endpoint_url=endpoint,
        aws_access_key_id=access_key,
        aws_secret_access_key=secret_key,
        region_name=region,
        config=Config(
            signature_version="s3v4",
            s3={"addressing_style": "path"},
            connect_timeout=3,
            read_timeout=TIMEOUT_SECONDS,
            retries={"total_max_attempts": 3, "mode": "standard"},
        ),
    )


def make_ready(s3: "S3Client", names: Collection[str]) -> None:
    """Create the buckets that are not there and write once to each. Raises StartError when one is refused."""
    from botocore.exceptions import BotoCoreError, ClientError

    for name in sorted(set(names)):
        try:
            try:
                s3.head_bucket(Bucket=name)
            except ClientError:
                s3.create_bucket(Bucket=name)
            s3.put_object(Bucket=name, Key=WARM_UP_KEY, Body=b"")
            s3.delete_object(Bucket=name, Key=WARM_UP_KEY)
        except (BotoCoreError, ClientError) as refused:
            raise StartError(f"bucket {name} cannot be used: {refused}; check HORDE_S3_ENDPOINT and its keys") from None


def let_pages_read(s3: "S3Client", bucket: str, origins: list[str]) -> None:
    """Lets scripts of pages of these origins read what a signed link leads to: the moderators' console does."""
    rule: CORSRuleTypeDef = {"AllowedMethods": ["GET"], "AllowedOrigins": origins}
    s3.put_bucket_cors(Bucket=bucket, CORSConfiguration={"CORSRules": [rule]})
