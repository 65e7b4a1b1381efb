"""Roles to begin with."""

import pytest

from shoal.data._suggested_role import names_persons, numbers_persons, suggest_role
from shoal.data.role import Role

NUMBERS = [
    "id",
    "ID",
    "patient_id",
    "PatientID",
    "patientid",
    "CustomerID",
    "customer_code",
    "employee_no",
    "StudentId",
    "user_id",
    "case_number",
    "SSN",
    "mrn",
    "Patientennummer",
    "KundenNr",
    "insurance_number",
    "social_security_number",
    "passport_no",
    "visit_id",
    "uuid",
]
NAMES = [
    "Name",
    "Surname",
    "first_name",
    "lastName",
    "Vorname",
    "Nachname",
    "phone",
    "phone_number",
    "mobile",
    "Telefon",
    "email",
    "E-Mail",
    "EmailAddress",
    "user_name",
    "birth_name",
    "home_address",
]


@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_of_persons(name: str) -> None:
    """Repeated they tell which rows are one person; they are never to be published as a quasi-identifier."""
    assert numbers_persons(name)
    assert suggest_role(name, 60, 4000, 0.0).role is Role.ENTITY
    assert suggest_role(name, 4000, 4000, 1.0).role is Role.IDENTIFYING
    assert suggest_role(name, 3990, 4000, 0.9975, missing=10).role is Role.IDENTIFYING


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("distinct", [1, 60, 4000])
def test_names_of_persons(name: str, distinct: int) -> None:
    assert names_persons(name)
    assert suggest_role(name, distinct, 4000, distinct / 4000).role is Role.IDENTIFYING


@pytest.mark.parametrize(
    "name",
    ["department_id", "id_type", "country_name", "education-id", "paid", "valid", "username_length", "kid"],
)
def test_no_numbers_and_no_names_of_persons(name: str) -> None:
    assert not names_persons(name)
    assert not numbers_persons(name)


@pytest.mark.parametrize(
    ("name", "distinct", "unique", "role"),
    [
        ("education-id", 16, 0.0, Role.QUASI),
        ("date of birth", 990, 0.98, Role.QUASI),
        ("Geburtsdatum", 990, 0.98, Role.QUASI),
        ("birth", 990, 0.98, Role.QUASI),
        ("zip", 500, 0.4, Role.QUASI),
        ("country_name", 30, 0.0, Role.QUASI),
        ("Diagnosis", 40, 0.01, Role.SENSITIVE),
        ("dx", 40, 0.01, Role.SENSITIVE),
        ("icd", 40, 0.01, Role.SENSITIVE),
        ("lab", 900, 0.95, Role.SENSITIVE),
        ("monthlySalary", 980, 0.97, Role.SENSITIVE),
        ("remark", 950, 0.95, Role.IDENTIFYING),
        ("remark", 50, 0.0, Role.QUASI),
        ("page", 50, 0.0, Role.QUASI),
        ("always", 1, 0.0, Role.INSENSITIVE),
        ("sex", 1, 0.0, Role.INSENSITIVE),
        ("hiv_status", 1, 0.0, Role.SENSITIVE),
        ("ICD10", 1, 0.0, Role.SENSITIVE),
        ("religion", 1, 0.0, Role.SENSITIVE),
        ("nothing", 0, 0.0, Role.INSENSITIVE),
    ],
)
def test_suggested_roles(name: str, distinct: int, unique: float, role: Role) -> None:
    suggested, reason = suggest_role(name, distinct, 1000, unique)
    assert suggested is role
    assert reason
    if name == "page":
        assert "age" not in reason


def test_missing_values_and_measurements() -> None:
    assert suggest_role("seen", 1, 1000, 0.0, missing=500).role is Role.QUASI
    assert suggest_role("size", 1000, 1000, 1.0).role is Role.IDENTIFYING
    assert suggest_role("size", 1000, 1000, 1.0, measured=True).role is Role.QUASI
