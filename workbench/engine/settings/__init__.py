"""What can be set, where each value came from, and the rule who may set it."""

from workbench.engine.settings.directories import system_timezone, user_settings_file
from workbench.engine.settings.editing import write_setting
from workbench.engine.settings.loading import check_settings, load_settings
from workbench.engine.settings.model_sections import EmbeddingSettings, ModelSettings
from workbench.engine.settings.schema import Kind, Spec
from workbench.engine.settings.sections import (
    SCHEMA,
    AuditSettings,
    BenchSettings,
    CoreSettings,
    DecaySettings,
    FlushSettings,
    Fusion,
    GraphSettings,
    HistorySettings,
    PathSettings,
    ProposalSettings,
    QmdSettings,
    ReflectionSettings,
    SearchSettings,
    SecretSettings,
    Settings,
    TriggerSettings,
    environment_name,
    value_of,
)

__all__ = [
    "SCHEMA",
    "AuditSettings",
    "BenchSettings",
    "CoreSettings",
    "DecaySettings",
    "EmbeddingSettings",
    "FlushSettings",
    "Fusion",
    "GraphSettings",
    "HistorySettings",
    "Kind",
    "ModelSettings",
    "PathSettings",
    "ProposalSettings",
    "QmdSettings",
    "ReflectionSettings",
    "SearchSettings",
    "SecretSettings",
    "Settings",
    "Spec",
    "TriggerSettings",
    "check_settings",
    "environment_name",
    "load_settings",
    "system_timezone",
    "user_settings_file",
    "value_of",
    "write_setting",
]
