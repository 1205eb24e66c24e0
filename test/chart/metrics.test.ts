import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createMetrics } from '../../services/common/runtime/metrics.js';
import { createScoringGauges } from '../../services/scoring-operator/metrics.js';
import { createOperatorMetrics } from '../../services/scoring-operator/operator/metrics.js';
import { chart, program, type Rendered, render, valuesFile } from '../support/chart/helm.js';

let listed: Promise<Map<string, ReadonlySet<string>>> | undefined;

/** Names of series that processes show, those of histograms included, each with its labels. */
const series = (): Promise<Map<string, ReadonlySet<string>>> => {
  listed ??= listSeries();
  return listed;
};

async function listSeries(): Promise<Map<string, ReadonlySet<string>>> {
  const metrics = createMetrics(true);
  createScoringGauges(metrics);
  createOperatorMetrics(metrics);
  const found = new Map<string, ReadonlySet<string>>();
  const labels = new Map(
    metrics.registry
      .getMetricsAsArray()
      .map((metric) => metric as unknown as { name: string; labelNames?: readonly string[] })
      .map(({ name, labelNames = [] }) => [name, new Set(labelNames)]),
  );
  for (const { name, type } of await metrics.registry.getMetricsAsJSON())
    for (const suffix of String(type) === 'histogram' ? ['_bucket', '_sum', '_count'] : [''])
      found.set(`${name}${suffix}`, labels.get(name) ?? new Set());
  return found;
}

/** What Prometheus adds, by the ServiceMonitor. */
const ofTargets = ['namespace', 'pod', 'app_kubernetes_io_instance', 'app_kubernetes_io_component', 'le'];

/** Every selector of an expression: the metric, and the labels that it is selected by. */
function selectors(expression: string): { readonly name: string; readonly labels: string[] }[] {
  return [...expression.matchAll(/\b(weft_\w+|up)\b(?:\{([^}]*)\})?/g)].map(([, name = '', inner = '']) => ({
    name,
    labels: [...inner.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g)].map(([, label = '']) => label),
  }));
}

async function checkExpression(where: string, expression: string): Promise<void> {
  const known = await series();
  const used = selectors(expression);
  assert.ok(used.length > 0, `${where} looks at no metric`);
  for (const { name, labels } of used) {
    if (name === 'up') continue;
    const own = known.get(name);
    assert.ok(own !== undefined, `${where}: there is no metric ${name}`);
    for (const label of labels)
      assert.ok(own.has(label) || ofTargets.includes(label), `${where}: ${name} has no label ${label}`);
  }
}

describe('T0: alerts and dashboards', () => {
  const rules = render(
    [valuesFile('everything')],
    ['--set', 'tls.enabled=true,tls.existingSecret=s', '--show-only', 'templates/prometheusrule.yaml'],
  )[0] as Rendered;

  it('has alerts that look at metrics which exist, by labels which they have', async () => {
    const alerts = rules['spec'].groups[0].rules as Record<string, never>[];
    assert.ok(alerts.length >= 20);
    const names = new Set<string>();
    for (const { alert, expr, labels, annotations } of alerts as never as {
      alert: string;
      expr: string;
      labels: { severity: string };
      annotations: { summary: string; description: string; runbook_url: string };
    }[]) {
      assert.ok(!names.has(alert), `${alert} twice`);
      names.add(alert);
      assert.match(labels.severity, /^(critical|warning|info)$/);
      assert.ok(annotations.summary !== '' && annotations.description !== '');
      assert.equal(annotations.runbook_url, `https://runbooks.example.org/${alert}`);
      await checkExpression(alert, expr);
    }
  });

  it('has dashboards whose panels look at metrics which exist', async () => {
    for (const file of readdirSync(join(chart, 'dashboards'))) {
      const dashboard = JSON.parse(readFileSync(join(chart, 'dashboards', file), 'utf8'));
      const panels = dashboard.panels.filter(({ type }: { type: string }) => type !== 'row');
      assert.ok(panels.length >= 10);
      assert.equal(
        new Set(dashboard.panels.map(({ id }: { id: number }) => id)).size,
        dashboard.panels.length,
      );
      for (const { title, targets } of panels)
        for (const { expr } of targets) await checkExpression(`${file}: ${title}`, expr);
      for (const { type, definition } of dashboard.templating.list)
        if (type === 'query') {
          const [, metric = ''] = /^label_values\((\w+)/.exec(definition) ?? [];
          assert.ok((await series()).has(metric), `${file}: there is no metric ${metric}`);
        }
    }
  });

  it('has expressions that Prometheus takes', () => {
    const alerts = (rules['spec'].groups[0].rules as { expr: string }[]).map(({ expr }) => expr);
    const panels = readdirSync(join(chart, 'dashboards'))
      .map((file) => JSON.parse(readFileSync(join(chart, 'dashboards', file), 'utf8')))
      .flatMap(({ panels: all }) => all)
      .flatMap(({ targets = [] }: { targets?: { expr: string }[] }) => targets.map(({ expr }) => expr));
    const check = (expressions: readonly string[]) =>
      spawnSync(program('PROMQL'), { input: JSON.stringify(expressions), encoding: 'utf8' });
    const { status, stdout } = check([...alerts, ...panels]);
    assert.equal(status, 0, stdout);
    assert.equal(stdout.trim(), `${alerts.length + panels.length} taken`);
    assert.equal(check(['rate(up)']).status, 1);
  });

  it('gives dashboards to Grafana as they are', () => {
    const maps = render([valuesFile('everything')], ['--show-only', 'templates/dashboards.yaml']);
    assert.equal(maps.length, 2);
    for (const { metadata, data } of maps as never as {
      metadata: { labels: Record<string, string>; annotations: Record<string, string> };
      data: Record<string, string>;
    }[]) {
      assert.equal(metadata.labels['grafana_dashboard'], '1');
      assert.equal(metadata.annotations['grafana_folder'], 'Rollups');
      for (const text of Object.values(data)) assert.equal(typeof JSON.parse(text).title, 'string');
    }
  });

  it('reads metrics of every component, whose labels win', () => {
    const [monitor] = render([valuesFile('everything')], ['--show-only', 'templates/servicemonitor.yaml']);
    assert.equal(monitor?.['spec'].endpoints[0].honorLabels, true);
    const services = render([valuesFile('everything')], ['--show-only', 'templates/services.yaml']).filter(
      ({ spec }) => spec.ports.some(({ name }: { name: string }) => name === 'metrics'),
    );
    const components = services.map(({ metadata }) => metadata.labels?.['app.kubernetes.io/component']);
    assert.equal(new Set(components).size, components.length);
    assert.equal(components.length, 10);
  });
});
