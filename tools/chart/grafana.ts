/** A panel of a dashboard: what it shows, and the queries that it is made of. */
export interface Panel {
  readonly title: string;
  readonly description: string;
  /** Expression and legend of each series. */
  readonly queries: readonly (readonly [expression: string, legend: string])[];
  /** Unit as Grafana names it; default: plain numbers. */
  readonly unit?: string;
  /** A number instead of a graph, with the thresholds at which it turns yellow and red. */
  readonly stat?: { readonly warn?: number; readonly bad?: number };
}

/** Panels under a heading. */
export interface Row {
  readonly title: string;
  readonly panels: readonly Panel[];
}

const datasource = { type: 'prometheus', uid: '$datasource' };
const statHeight = 4;
const graphHeight = 8;

/** A dashboard in the form that Grafana imports, and its sidecar reads from a ConfigMap. */
export function dashboard(
  uid: string,
  title: string,
  rows: readonly Row[],
  variables: readonly object[],
): object {
  return {
    uid,
    title,
    tags: ['weft'],
    schemaVersion: 39,
    version: 1,
    editable: true,
    graphTooltip: 1,
    refresh: '30s',
    time: { from: 'now-3h', to: 'now' },
    timepicker: {},
    timezone: '',
    annotations: { list: [] },
    links: [],
    templating: {
      list: [
        {
          type: 'datasource',
          name: 'datasource',
          label: 'Data source',
          query: 'prometheus',
          hide: 0,
          current: {},
        },
        ...variables,
      ],
    },
    panels: layOut(rows),
  };
}

/** A choice among the values of a label. */
export function variable(name: string, label: string, query: string): object {
  return {
    type: 'query',
    name,
    label,
    datasource,
    definition: query,
    query: { query, refId: 'variable' },
    refresh: 2,
    sort: 1,
    hide: 0,
    includeAll: false,
    multi: false,
    options: [],
    current: {},
  };
}

/** Places panels: numbers six, graphs two in a line. */
function layOut(rows: readonly Row[]): object[] {
  const placed: object[] = [];
  let y = 0;
  for (const { title, panels } of rows) {
    placed.push({
      id: placed.length + 1,
      type: 'row',
      title,
      collapsed: false,
      panels: [],
      gridPos: { x: 0, y, w: 24, h: 1 },
    });
    y += 1;
    let x = 0;
    let lineHeight = 0;
    for (const one of panels) {
      const [w, h] = one.stat === undefined ? [12, graphHeight] : [4, statHeight];
      if (x + w > 24 || (lineHeight !== 0 && h !== lineHeight)) {
        y += lineHeight;
        x = 0;
      }
      lineHeight = h;
      placed.push(panel(one, placed.length + 1, { x, y, w, h }));
      x += w;
    }
    y += lineHeight;
  }
  return placed;
}

function panel({ title, description, queries, unit, stat }: Panel, id: number, gridPos: object): object {
  const steps = [
    { color: 'green', value: null },
    ...(stat?.warn === undefined ? [] : [{ color: 'yellow', value: stat.warn }]),
    ...(stat?.bad === undefined ? [] : [{ color: 'red', value: stat.bad }]),
  ];
  return {
    id,
    type: stat === undefined ? 'timeseries' : 'stat',
    title,
    description,
    datasource,
    gridPos,
    targets: queries.map(([expr, legendFormat], index) => ({
      refId: String.fromCharCode(65 + index),
      datasource,
      editorMode: 'code',
      expr,
      legendFormat,
      range: stat === undefined,
      instant: stat !== undefined,
    })),
    fieldConfig: {
      defaults: {
        unit: unit ?? 'short',
        ...(stat === undefined
          ? { custom: { drawStyle: 'line', lineWidth: 1, fillOpacity: 10, showPoints: 'never' } }
          : { thresholds: { mode: 'absolute', steps } }),
      },
      overrides: [],
    },
    options:
      stat === undefined
        ? {
            legend: { displayMode: 'list', placement: 'bottom', showLegend: true },
            tooltip: { mode: 'multi' },
          }
        : {
            reduceOptions: { calcs: ['lastNotNull'] },
            colorMode: 'value',
            graphMode: 'area',
            textMode: 'auto',
          },
  };
}
