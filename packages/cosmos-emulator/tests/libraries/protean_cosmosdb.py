"""Repositories: lookups, order, pages, and a conflict of two changes."""

from __future__ import annotations

from protean.domain import Domain
from protean.exceptions import ExpectedVersionError, ObjectNotFoundError
from protean.fields import DateTime, Integer, String
from scenario import ENDPOINT, KEY

domain = Domain(name="Shop")
domain.config["databases"]["default"] = {
    "provider": "cosmosdb",
    "database_uri": ENDPOINT,
    "key": KEY,
    "database": "shop",
}


@domain.aggregate
class Order:
    customer = String(max_length=100)
    total = Integer()
    placed = DateTime()


domain.init(traverse=False)
with domain.domain_context():
    domain.providers["default"]._create_database_artifacts()
    repository = domain.repository_for(Order)
    for total in (3, 1, 2):
        repository.add(Order(id=f"{total}", customer=f"é{total % 2}", total=total, placed=f"2026-01-0{total}T03:04:05"))
    assert repository.get("2").customer == "é0"
    assert repository.get("2").placed.day == 2
    orders = repository._dao.query
    assert [order.total for order in orders.order_by("-total").all().items] == [3, 2, 1]
    assert [order.total for order in orders.filter(total__gte=2).order_by("total").all().items] == [2, 3]
    assert orders.filter(customer__startswith="é1").all().total == 2
    page = orders.order_by("total").limit(1).offset(1).all()
    assert ([order.total for order in page.items], page.total) == ([2], 3)
    first, second = repository.get("1"), repository.get("1")
    first.total = 10
    repository.add(first)
    second.total = 20
    try:
        repository.add(second)
    except ExpectedVersionError:
        assert repository.get("1").total == 10
    else:
        raise AssertionError("The second change must fail")
    repository._dao.delete(repository.get("1"))
    try:
        repository.get("1")
    except ObjectNotFoundError:
        pass
    else:
        raise AssertionError("A deleted order must not be found")
