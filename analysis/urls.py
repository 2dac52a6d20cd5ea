from django.urls import path

from .views import (
    across,
    contrasts,
    evaluations,
    examples,
    experiments,
    likeness,
    plans,
    post_editions,
    presentation,
    ranking,
    report,
    results,
    scores,
    weights,
)

urlpatterns = [
    path("campaigns/<uuid:code>/results/", results.results, name="campaign_results"),
    path("campaigns/<uuid:code>/results/segments/", results.segments, name="campaign_segments"),
    path(
        "campaigns/<uuid:code>/results/documents/",
        results.document_scores,
        name="campaign_documents",
    ),
    path("campaigns/<uuid:code>/results/build/", results.build, name="build_gold"),
    path(
        "campaigns/<uuid:code>/results/pictures/<slug:name>.<slug:fmt>",
        results.picture,
        name="result_picture",
    ),
    path(
        "campaigns/<uuid:code>/results/exports/<slug:kind>.<slug:fmt>",
        results.download,
        name="result_export",
    ),
    path(
        "campaigns/<uuid:code>/workers/likeness/", likeness.worker_likeness, name="worker_likeness"
    ),
    path(
        "campaigns/<uuid:code>/workers/likeness/<uuid:metric>.<slug:fmt>",
        likeness.likeness_picture,
        name="likeness_picture",
    ),
    path("campaigns/<uuid:code>/ranking/", ranking.ranking, name="campaign_ranking"),
    path("campaigns/<uuid:code>/ranking/start/", ranking.start, name="rank_judgements"),
    path("campaigns/<uuid:code>/ranking/report/", ranking.report, name="ranking_report"),
    path("campaigns/<uuid:code>/ranking/report.pdf", ranking.report_pdf, name="ranking_report_pdf"),
    path(
        "campaigns/<uuid:code>/ranking/judgements.<slug:fmt>",
        ranking.judgements,
        name="ranking_judgements",
    ),
    path(
        "campaigns/<uuid:code>/ranking/tables/<slug:name>.<slug:fmt>",
        ranking.table,
        name="ranking_table",
    ),
    path(
        "campaigns/<uuid:code>/ranking/pictures/<slug:name>.<slug:fmt>",
        ranking.picture,
        name="ranking_picture",
    ),
    path("campaigns/<uuid:code>/presentation/", presentation.effects, name="presentation_effects"),
    path(
        "campaigns/<uuid:code>/presentation/start/", presentation.start, name="measure_presentation"
    ),
    path(
        "campaigns/<uuid:code>/presentation/tables/<slug:name>.<slug:fmt>",
        presentation.table,
        name="presentation_table",
    ),
    path(
        "campaigns/<uuid:code>/presentation/pictures/<slug:name>.<slug:fmt>",
        presentation.picture,
        name="presentation_picture",
    ),
    path("campaigns/<uuid:code>/workers/weights/", weights.worker_weights, name="worker_weights"),
    path("campaigns/<uuid:code>/report/", report.report, name="campaign_report"),
    path("campaigns/<uuid:code>/report.pdf", report.report_pdf, name="campaign_report_pdf"),
    path("campaigns/<uuid:code>/metrics/", scores.campaign_metrics, name="campaign_metrics"),
    path("campaigns/<uuid:code>/metrics/scores/", scores.campaign_scores, name="campaign_scores"),
    path("campaigns/<uuid:code>/metrics/gold/", scores.campaign_gold, name="campaign_gold"),
    path(
        "campaigns/<uuid:code>/metrics/directions/",
        scores.campaign_directions,
        name="campaign_directions",
    ),
    path(
        "campaigns/<uuid:code>/post-editions/",
        post_editions.post_editions,
        name="post_editions",
    ),
    path(
        "campaigns/<uuid:code>/post-editions/import/",
        post_editions.import_post_editions,
        name="import_post_editions",
    ),
    path(
        "campaigns/<uuid:code>/post-editions/check/",
        post_editions.check_post_editions,
        name="check_post_editions",
    ),
    path(
        "campaigns/<uuid:code>/post-editions/agreement/",
        post_editions.measure_editor_agreement,
        name="measure_editor_agreement",
    ),
    path(
        "campaigns/<uuid:code>/own-references/",
        post_editions.own_references,
        name="own_references",
    ),
    path(
        "campaigns/<uuid:code>/own-references/gold/",
        post_editions.bring_back_gold,
        name="bring_back_gold",
    ),
    path(
        "campaigns/<uuid:code>/metrics/post-editions/",
        scores.campaign_post_editions,
        name="campaign_post_editions",
    ),
    path("campaigns/<uuid:code>/metrics/compute/", scores.compute, name="compute_metrics"),
    path(
        "campaigns/<uuid:code>/metrics/evaluate/",
        evaluations.campaign_evaluate,
        name="campaign_evaluate",
    ),
    path("plan/", plans.plan_campaign, name="plan_campaign"),
    path("plan/<slug:name>.<slug:fmt>", plans.plan_picture, name="plan_picture"),
    path("examples/make/", examples.make, name="make_examples"),
    path("examples/remove/", examples.remove, name="remove_examples"),
    path("evaluations/", evaluations.evaluations, name="evaluations"),
    path("evaluations/across/", across.evaluations_across, name="evaluations_across"),
    path(
        "evaluations/across/table.<slug:fmt>",
        across.evaluations_across_file,
        name="evaluations_across_file",
    ),
    path("evaluations/pooled/", evaluations.evaluate_pooled, name="evaluate_pooled"),
    path("evaluations/collections/", scores.new_collection, name="new_collection"),
    path(
        "evaluations/collections/<uuid:code>/", scores.collection_metrics, name="collection_metrics"
    ),
    path(
        "evaluations/collections/<uuid:code>/scores/",
        scores.collection_scores,
        name="collection_scores",
    ),
    path(
        "evaluations/collections/<uuid:code>/gold/", scores.collection_gold, name="collection_gold"
    ),
    path(
        "evaluations/collections/<uuid:code>/directions/",
        scores.collection_directions,
        name="collection_directions",
    ),
    path(
        "evaluations/collections/<uuid:code>/evaluate/",
        evaluations.collection_evaluate,
        name="collection_evaluate",
    ),
    path("experiments/", experiments.experiments, name="experiments"),
    path("experiments/new/<slug:kind>/", experiments.new_experiment, name="new_experiment"),
    path("experiments/<uuid:code>/", experiments.experiment, name="experiment"),
    path(
        "experiments/<uuid:code>/change/", experiments.change_experiment, name="change_experiment"
    ),
    path(
        "experiments/<uuid:code>/report.zip",
        experiments.experiment_report,
        name="experiment_report",
    ),
    path(
        "experiments/<uuid:code>/campaign/",
        experiments.experiment_campaign,
        name="experiment_campaign",
    ),
    path(
        "experiments/<uuid:code>/result.json", experiments.experiment_json, name="experiment_json"
    ),
    path(
        "experiments/<uuid:code>/tables/<str:name>.<slug:fmt>",
        experiments.experiment_table,
        name="experiment_table",
    ),
    path(
        "experiments/<uuid:code>/pictures/<str:name>.<slug:fmt>",
        experiments.experiment_picture,
        name="experiment_picture",
    ),
    path("evaluations/<uuid:code>/", evaluations.evaluation, name="evaluation"),
    path(
        "evaluations/<uuid:code>/result.json", evaluations.evaluation_json, name="evaluation_json"
    ),
    path("evaluations/<uuid:code>/contrast/", contrasts.contrasted, name="evaluation_contrast"),
    path(
        "evaluations/<uuid:code>/contrast/translations.csv",
        contrasts.contradictions,
        name="evaluation_contradictions",
    ),
    path(
        "evaluations/<uuid:code>/contrast/quadrants.<slug:fmt>",
        contrasts.contrast_picture,
        name="evaluation_contrast_picture",
    ),
    path("evaluations/<uuid:code>/again/", evaluations.check_evaluation, name="check_evaluation"),
    path(
        "evaluations/<uuid:code>/tables/<str:name>.<slug:fmt>",
        evaluations.evaluation_table,
        name="evaluation_table",
    ),
    path(
        "evaluations/<uuid:code>/pictures/<str:name>.<slug:fmt>",
        evaluations.evaluation_picture,
        name="evaluation_picture",
    ),
    path(
        "evaluations/<uuid:code>/points/<str:name>",
        evaluations.evaluation_points,
        name="evaluation_points",
    ),
]
