import { dashboard, type Row, variable } from './grafana.js';

const of = 'namespace="$namespace",app_kubernetes_io_instance="$release"';

const variables = [
  variable('namespace', 'Namespace', 'label_values(weft_nodejs_version_info, namespace)'),
  variable(
    'release',
    'Release',
    'label_values(weft_nodejs_version_info{namespace="$namespace"}, app_kubernetes_io_instance)',
  ),
];

const index: readonly Row[] = [
  {
    title: 'Index',
    panels: [
      {
        title: 'Height',
        description: 'Height that the block service has written.',
        queries: [[`max(weft_height{${of},service="block",track="head"})`, 'block']],
        stat: {},
      },
      {
        title: 'Blocks behind',
        description: 'Blocks between the node and the service that is furthest behind.',
        queries: [[`max(weft_lag_blocks{${of}})`, 'behind']],
        stat: { warn: 10, bad: 100 },
      },
      {
        title: 'Pods down',
        description: 'Pods that do not answer Prometheus.',
        queries: [[`count(up{${of}} == 0) or vector(0)`, 'down']],
        stat: { warn: 1, bad: 2 },
      },
      {
        title: 'Failed requests to the node',
        description: 'Share of all requests to the node.',
        queries: [
          [
            `sum(rate(weft_node_errors_total{${of}}[5m])) / sum(rate(weft_node_requests_total{${of}}[5m])) or vector(0)`,
            'share',
          ],
        ],
        unit: 'percentunit',
        stat: { warn: 0.05, bad: 0.5 },
      },
      {
        title: 'Rollbacks',
        description: 'Rollbacks of the chain that were unwound in a day.',
        queries: [[`max(increase(weft_rollbacks_total{${of}}[1d])) or vector(0)`, 'rollbacks']],
        stat: { warn: 1 },
      },
      {
        title: 'Balances set right',
        description: "Balances that differed from the node's in a day.",
        queries: [[`sum(increase(weft_richlist_healed_balances_total{${of}}[1d])) or vector(0)`, 'balances']],
        stat: { warn: 1 },
      },
      {
        title: 'Heights',
        description: 'Every service by track; the node on top.',
        queries: [[`max by (service, track) (weft_height{${of}})`, '{{service}} {{track}}']],
      },
      {
        title: 'Blocks behind the node',
        description: 'By service.',
        queries: [[`max by (service) (weft_lag_blocks{${of}})`, '{{service}}']],
      },
      {
        title: 'Blocks written',
        description: 'By service, a second.',
        queries: [[`sum by (service) (rate(weft_blocks_total{${of}}[5m]))`, '{{service}}']],
      },
      {
        title: 'Transactions written',
        description: 'By service, a second.',
        queries: [[`sum by (service) (rate(weft_txs_total{${of}}[5m]))`, '{{service}}']],
      },
      {
        title: 'What could not be read',
        description: 'Parts of blocks, and answers of the node, by kind.',
        queries: [
          [`sum by (service, kind) (increase(weft_problems_total{${of}}[5m])) > 0`, '{{service}} {{kind}}'],
        ],
      },
      {
        title: 'Rich list',
        description: 'Balances compared with the node, and those that differed.',
        queries: [
          [`sum(rate(weft_richlist_compared_balances_total{${of}}[5m]))`, 'compared a second'],
          [`sum(rate(weft_richlist_healed_balances_total{${of}}[5m]))`, 'set right a second'],
          [`max(weft_richlist_drifting_tokens{${of}})`, 'tokens that drift'],
        ],
      },
    ],
  },
  {
    title: 'Gateway',
    panels: [
      {
        title: 'Requests',
        description: 'By status, a second.',
        queries: [[`sum by (status) (rate(weft_http_request_seconds_count{${of}}[5m]))`, '{{status}}']],
        unit: 'reqps',
      },
      {
        title: 'Time of a request',
        description: 'From the first byte of the request to the last of the answer.',
        queries: [0.5, 0.9, 0.99].map(
          (quantile) =>
            [
              `histogram_quantile(${quantile}, sum by (le) (rate(weft_http_request_seconds_bucket{${of}}[5m])))`,
              `p${quantile * 100}`,
            ] as const,
        ),
        unit: 's',
      },
      {
        title: 'Slowest routes',
        description: '99 % of requests of a route are faster.',
        queries: [
          [
            `topk(10, histogram_quantile(0.99, sum by (le, route) (rate(weft_http_request_seconds_bucket{${of}}[5m]))))`,
            '{{route}}',
          ],
        ],
        unit: 's',
      },
      {
        title: 'Answers by where they came from',
        description: 'hit: from the cache; joined: an equal request was in flight.',
        queries: [[`sum by (result) (rate(weft_cache_total{${of}}[5m]))`, '{{result}}']],
        unit: 'reqps',
      },
    ],
  },
  {
    title: 'Node and ClickHouse',
    panels: [
      {
        title: 'Requests to the node',
        description: 'By API, a second.',
        queries: [[`sum by (api) (rate(weft_node_requests_total{${of}}[5m]))`, '{{api}}']],
        unit: 'reqps',
      },
      {
        title: 'Failed requests to the node',
        description: 'By host and what went wrong, a second.',
        queries: [
          [`sum by (host, reason) (rate(weft_node_errors_total{${of}}[5m])) > 0`, '{{host}} {{reason}}'],
        ],
        unit: 'reqps',
      },
      {
        title: 'Time of a statement',
        description: '99 % are faster; the wait for their turn included.',
        queries: [
          [
            `histogram_quantile(0.99, sum by (le, service, statement) (rate(weft_query_seconds_bucket{${of}}[5m])))`,
            '{{service}} {{statement}}',
          ],
        ],
        unit: 's',
      },
      {
        title: 'Failed statements and calls',
        description: 'Statements by service, gRPC calls by code, a second.',
        queries: [
          [`sum by (service) (rate(weft_query_errors_total{${of}}[5m])) > 0`, 'statements of {{service}}'],
          [
            `sum by (code) (rate(weft_rpc_seconds_count{${of},code!~"OK|NOT_FOUND|CANCELLED"}[5m])) > 0`,
            'calls: {{code}}',
          ],
        ],
      },
    ],
  },
  {
    title: 'Processes',
    panels: [
      {
        title: 'Memory',
        description: 'Resident, by pod.',
        queries: [[`weft_process_resident_memory_bytes{${of}}`, '{{pod}}']],
        unit: 'bytes',
      },
      {
        title: 'Processor time',
        description: 'Cores, by pod.',
        queries: [[`rate(weft_process_cpu_seconds_total{${of}}[5m])`, '{{pod}}']],
      },
      {
        title: 'Event loop',
        description: 'How late it is, 99 %.',
        queries: [[`weft_nodejs_eventloop_lag_p99_seconds{${of}}`, '{{pod}}']],
        unit: 's',
      },
      {
        title: 'Kept at hand',
        description: 'Memory of what services keep, and of facts on local disk.',
        queries: [
          [`sum by (service, part) (weft_held_bytes{${of}})`, '{{service}} {{part}}'],
          [`sum by (service) (weft_fact_cache_bytes{${of}})`, 'disk of {{service}}'],
        ],
        unit: 'bytes',
      },
      {
        title: 'Facts found on local disk',
        description: 'Of those that were looked for.',
        queries: [
          [
            `sum by (service) (rate(weft_fact_cache_reads_total{${of},result="hit"}[5m])) / sum by (service) (rate(weft_fact_cache_reads_total{${of}}[5m]))`,
            '{{service}}',
          ],
        ],
        unit: 'percentunit',
      },
      {
        title: 'Cached answers',
        description: 'Bytes, by pod of the gateway.',
        queries: [[`weft_cache_bytes{${of}}`, '{{pod}}']],
        unit: 'bytes',
      },
    ],
  },
];

// Programs may be in other namespaces than the operator that tells of them.
const program = 'namespace=~"$programs",app_kubernetes_io_instance="$release",program=~"$program"';

const scoring: readonly Row[] = [
  {
    title: 'Stages',
    panels: [
      {
        title: 'Stage of the L1',
        description: 'The stage that runs.',
        queries: [
          [`max by (namespace, program) (weft_vip_stage_current{${program}})`, '{{namespace}}/{{program}}'],
        ],
        stat: {},
      },
      {
        title: 'Scored',
        description: 'Last stage whose scores were read back.',
        queries: [
          [`max by (namespace, program) (weft_vip_stage_scored{${program}})`, '{{namespace}}/{{program}}'],
        ],
        stat: {},
      },
      {
        title: 'Finalized',
        description: 'Last stage that is finalized.',
        queries: [
          [`max by (namespace, program) (weft_vip_stage_finalized{${program}})`, '{{namespace}}/{{program}}'],
        ],
        stat: {},
      },
      {
        title: 'Over and not finalized',
        description: 'Stages that wait.',
        queries: [
          [`max by (namespace, program) (weft_vip_stages_overdue{${program}})`, '{{namespace}}/{{program}}'],
        ],
        stat: { warn: 1, bad: 2 },
      },
      {
        title: 'End of the running stage',
        description: 'By then the stage before has to be finalized.',
        queries: [
          [
            `max by (namespace, program) (weft_vip_stage_deadline_seconds{${program}})`,
            '{{namespace}}/{{program}}',
          ],
        ],
        unit: 's',
        stat: {},
      },
      {
        title: "Signer's balance",
        description: "In the rollup's smallest unit.",
        queries: [
          [`max by (namespace, program) (weft_vip_signer_balance{${program}})`, '{{namespace}}/{{program}}'],
        ],
        stat: {},
      },
      {
        title: 'Conditions',
        description: '1 true, 0 false, -1 unknown.',
        queries: [
          [
            `max by (namespace, program, type) (weft_vip_condition{${program}})`,
            '{{namespace}}/{{program}} {{type}}',
          ],
        ],
      },
      {
        title: 'Failed Jobs',
        description: 'By phase, an hour.',
        queries: [
          [
            `sum by (namespace, program, phase) (increase(weft_vip_job_failures_total{${program}}[1h]))`,
            '{{namespace}}/{{program}} {{phase}}',
          ],
        ],
      },
    ],
  },
  {
    title: 'Operator',
    panels: [
      {
        title: 'Leader',
        description: 'The pod that works.',
        queries: [[`weft_operator_leader{${of}}`, '{{pod}}']],
      },
      {
        title: 'Time of a reconciliation',
        description: '99 % are faster.',
        queries: [
          [
            `histogram_quantile(0.99, sum by (le, result) (rate(weft_operator_reconcile_seconds_bucket{${of}}[5m])))`,
            '{{result}}',
          ],
        ],
        unit: 's',
      },
      {
        title: 'Watches',
        description: 'Started again, or replaced because they told nothing any more.',
        queries: [
          [
            `sum by (resource) (increase(weft_operator_watch_restarts_total{${of}}[1h]))`,
            'restarts: {{resource}}',
          ],
          [
            `sum by (resource) (increase(weft_operator_watch_stalls_total{${of}}[1h]))`,
            'stalls: {{resource}}',
          ],
        ],
      },
      {
        title: 'Since the last look',
        description: 'By program.',
        queries: [
          [
            `time() - max by (namespace, program) (weft_vip_observed_seconds{${program}})`,
            '{{namespace}}/{{program}}',
          ],
        ],
        unit: 's',
      },
    ],
  },
];

/** Dashboards by the names of their files. */
export function dashboards(): Readonly<Record<string, object>> {
  const all = { includeAll: true, multi: true, allValue: '.+', current: { text: 'All', value: '$__all' } };
  const programs = variable(
    'programs',
    'Namespaces of programs',
    'label_values(weft_vip_stage_current{app_kubernetes_io_instance="$release"}, namespace)',
  );
  const names = variable(
    'program',
    'Program',
    'label_values(weft_vip_stage_current{namespace=~"$programs",app_kubernetes_io_instance="$release"}, program)',
  );
  return {
    'index.json': dashboard('weft-index', 'weft / Index', index, variables),
    'scoring.json': dashboard('weft-scoring', 'weft / Scoring', scoring, [
      ...variables,
      { ...programs, ...all },
      { ...names, ...all },
    ]),
  };
}
