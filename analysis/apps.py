from django.apps import AppConfig


class AnalysisConfig(AppConfig):
    name = "analysis"
    verbose_name = "Analysis"

    def ready(self) -> None:
        from hits.campaigns.samples import SPREADS
        from hits.models import Campaign

        SPREADS[Campaign.SampleChoice.METRICS] = "analysis.scores.spread.spread_of_metrics"
