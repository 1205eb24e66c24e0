/** Runs kubectl. @returns what it printed */
export type Kubectl = (...args: string[]) => Promise<string>;

/** A pod from which connections are tried. */
export interface Source {
  readonly namespace: string;
  readonly pod: string;
}

/** Says which of the addresses that it is given let it connect; refused ones drop packets, of which one may get lost. */
const script = `
const targets = JSON.parse(process.argv[1]);
const connects = (address) => new Promise((resolve) => {
  const at = address.lastIndexOf(':');
  const socket = require('node:net').connect({ host: address.slice(0, at), port: Number(address.slice(at + 1)) });
  const end = (it) => { socket.destroy(); resolve(it); };
  setTimeout(end, 4000, false);
  socket.on('connect', () => end(true)).on('error', (error) => end(error.message));
});
const results = Object.entries(targets).map(async ([name, address]) => [name, await connects(address)]);
Promise.all(results).then((all) => { console.log(JSON.stringify(Object.fromEntries(all))); process.exit(); });`;

/**
 * Tries to connect from a pod of the image.
 *
 * @param targets addresses by their names, HOST:PORT
 * @returns the names of those that let it, sorted
 * @throws Error where one was refused otherwise than by silence, as nothing listens there
 */
export async function reachable(
  kubectl: Kubectl,
  { namespace, pod }: Source,
  targets: Readonly<Record<string, string>>,
): Promise<string[]> {
  const said = await kubectl(
    ...['exec', '-n', namespace, pod, '--', 'node', '-e', script, JSON.stringify(targets)],
  );
  const results = JSON.parse(said) as Record<string, boolean | string>;
  const faults = Object.entries(results).filter(([, result]) => typeof result === 'string');
  if (faults.length > 0) throw new Error(`${pod}: ${JSON.stringify(faults)}`);
  return Object.keys(results)
    .filter((name) => results[name] === true)
    .sort();
}

/** Starts a pod of the image in a namespace of its own, which is nobody's that the chart knows of. */
export async function startStranger(kubectl: Kubectl, namespace: string, image: string): Promise<Source> {
  await kubectl('create', 'namespace', namespace);
  await kubectl(
    ...[
      'run',
      'stranger',
      '-n',
      namespace,
      `--image=${image}`,
      '--image-pull-policy=Never',
      '--command',
      '--',
    ],
    ...['node', '-e', 'setInterval(() => {}, 1e6)'],
  );
  await kubectl('wait', '-n', namespace, '--for=condition=Ready', 'pod/stranger', '--timeout=60s');
  return { namespace, pod: 'stranger' };
}

/** A pod of a component, and its address. */
export async function podOf(
  kubectl: Kubectl,
  namespace: string,
  component: string,
): Promise<Source & { readonly address: string }> {
  const said = await kubectl(
    ...['get', 'pods', '-n', namespace, '-l', `app.kubernetes.io/component=${component}`],
    ...[
      '--field-selector=status.phase=Running',
      '-o',
      'jsonpath={.items[0].metadata.name} {.items[0].status.podIP}',
    ],
  );
  const [pod = '', address = ''] = said.split(' ');
  return { namespace, pod, address };
}
