"""From a board to the JSON that Grafana imports."""

from grafana_foundation_sdk.builders import common, dashboard, prometheus, stat, timeseries
from grafana_foundation_sdk.cog.builder import Builder
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.models.common import (
    LegendDisplayMode,
    LegendPlacement,
    SortOrder,
    StackingMode,
    TooltipDisplayMode,
)
from grafana_foundation_sdk.models.dashboard import (
    DashboardLink as Link,
)
from grafana_foundation_sdk.models.dashboard import (
    DashboardLinkType,
    DataSourceRef,
    Threshold,
    ThresholdsMode,
    VariableRefresh,
)

from tools.observe.forms import Board, Figure, Graph, Line

_SOURCE = DataSourceRef(type_val="prometheus", uid="${datasource}")
_HEIGHT = {Graph: 8, Figure: 4}
_TAG = "chat-horde"


def rendered(board: Board) -> str:
    """The file's text."""
    return JSONEncoder(sort_keys=True, indent=2).encode(_built(board).build()) + "\n"


def _built(board: Board) -> dashboard.Dashboard:
    made = _head(board)
    for row in board.rows:
        made = made.with_row(dashboard.Row(row.title))
        for panel in row.panels:
            made = made.with_panel(_graph(panel) if isinstance(panel, Graph) else _figure(panel))
    return made


def _head(board: Board) -> dashboard.Dashboard:
    others = dashboard.DashboardLink("Dashboards").type(DashboardLinkType.DASHBOARDS).tags([_TAG])
    processes = (
        dashboard.QueryVariable("instance")
        .label("Process")
        .datasource(_SOURCE)
        .query("label_values(up, instance)")
        .refresh(VariableRefresh.ON_TIME_RANGE_CHANGED)
        .multi(multi=True)
        .include_all(include_all=True)
        .all_value(".*")
    )
    return (
        dashboard.Dashboard(board.title)
        .uid(f"horde-{board.name}")
        .description(board.question)
        .tags([_TAG])
        .time("now-3h", "now")
        .refresh("30s")
        .readonly()
        .link(others.as_dropdown(as_dropdown=True).include_vars(include_vars=True).keep_time(keep_time=True))
        .with_variable(dashboard.DatasourceVariable("datasource").label("Prometheus").type("prometheus"))
        .with_variable(processes)
        .with_variable(dashboard.TextBoxVariable("runbooks").label("Runbooks are at").default_value("docs/runbooks"))
    )


def _graph(graph: Graph) -> timeseries.Panel:
    legend = (
        common.VizLegendOptions()
        .show_legend(show_legend=True)
        .display_mode(LegendDisplayMode.TABLE)
        .placement(LegendPlacement.BOTTOM)
        .calcs(["lastNotNull", "max"])
    )
    panel = (
        timeseries.Panel()
        .title(graph.title)
        .description(graph.told)
        .datasource(_SOURCE)
        .unit(graph.unit)
        .min(0)
        .span(graph.width)
        .height(_HEIGHT[Graph])
        .fill_opacity(10)
        .legend(legend)
        .tooltip(common.VizTooltipOptions().mode(TooltipDisplayMode.MULTI).sort(SortOrder.DESCENDING))
        .links(_links(graph.runbook))
    )
    if graph.stacked:
        panel = panel.stacking(common.StackingConfig().mode(StackingMode.NORMAL))
    for line in graph.lines:
        panel = panel.with_target(_query(line))
    return panel


def _figure(figure: Figure) -> stat.Panel:
    steps = [Threshold(None, "green")]
    if figure.bad_from is not None:
        steps.append(Threshold(figure.bad_from, "red"))
    elif figure.bad_below is not None:
        steps = [Threshold(None, "red"), Threshold(figure.bad_below, "green")]
    panel = (
        stat.Panel()
        .title(figure.title)
        .description(figure.told)
        .datasource(_SOURCE)
        .unit(figure.unit)
        .span(figure.width)
        .height(_HEIGHT[Figure])
        .thresholds(dashboard.ThresholdsConfig().mode(ThresholdsMode.ABSOLUTE).steps(steps))
        .reduce_options(common.ReduceDataOptions().calcs(["lastNotNull"]))
        .links(_links(figure.runbook))
    )
    for line in figure.lines:
        panel = panel.with_target(_query(line))
    return panel


def _links(runbook: str) -> list[Builder[Link]]:
    if not runbook:
        return []
    link = dashboard.DashboardLink(f"Runbook: {runbook}").type(DashboardLinkType.LINK)
    return [link.url(f"${{runbooks}}/{runbook}.md").target_blank(target_blank=True)]


def _query(line: Line) -> prometheus.Dataquery:
    return prometheus.Dataquery().datasource(_SOURCE).expr(line.expr).legend_format(line.legend)
