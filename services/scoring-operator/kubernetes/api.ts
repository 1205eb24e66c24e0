import {
  type ConfigurationOptions,
  CoreV1Api,
  CustomObjectsApi,
  KubeConfig,
  PatchStrategy,
  setHeaderOptions,
} from '@kubernetes/client-node';
import { messageOf, UserError } from '../../common/runtime/errors.js';

/** A kind of object as paths of the API name it. */
export interface Resource {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
}

export const leases: Resource = { group: 'coordination.k8s.io', version: 'v1', plural: 'leases' };
export const cronJobs: Resource = { group: 'batch', version: 'v1', plural: 'cronjobs' };
export const jobs: Resource = { group: 'batch', version: 'v1', plural: 'jobs' };
export const events: Resource = { group: 'events.k8s.io', version: 'v1', plural: 'events' };

/** A list as the API gives it. */
export interface ListOf<T> {
  readonly metadata: { readonly resourceVersion: string };
  readonly items: T[];
}

/** What is listed of a kind; default: everything. */
export interface Selectors {
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
}

/** A JSON object that is sent. */
type Body = Readonly<Record<string, unknown>>;

/**
 * The API server, in JSON as it stands there: the library's own classes would turn times into dates in lists and not
 * in watches. Every call rejects with an ApiError.
 */
export interface KubeApi {
  /** @param namespace empty for all of them. */
  list<T>(resource: Resource, namespace: string, selectors?: Selectors): Promise<ListOf<T>>;
  /** undefined where there is none. */
  get<T>(resource: Resource, namespace: string, name: string): Promise<T | undefined>;
  create<T>(resource: Resource, namespace: string, body: Body): Promise<T>;
  /** Conflicts when the resourceVersion in the body is not the newest. */
  replace<T>(resource: Resource, namespace: string, name: string, body: Body): Promise<T>;
  /** Server-side apply with force: what others have changed of our fields is taken back. */
  apply<T>(resource: Resource, namespace: string, name: string, body: Body, manager: string): Promise<T>;
  applyStatus<T>(
    resource: Resource,
    namespace: string,
    name: string,
    body: Body,
    manager: string,
  ): Promise<T>;
  /** Makes the spec of an object this one and nothing else; with isDry only says what would be there then. */
  replaceSpec<T>(
    resource: Resource,
    namespace: string,
    name: string,
    spec: unknown,
    isDry: boolean,
  ): Promise<T>;
  /** A merge patch. */
  merge<T>(resource: Resource, namespace: string, name: string, body: Body): Promise<T>;
  /** Nothing happens where there is none. */
  remove(resource: Resource, namespace: string, name: string, uid: string): Promise<void>;
  /** The texts of a ConfigMap; undefined where there is none. */
  configMap(namespace: string, name: string): Promise<Readonly<Record<string, string>> | undefined>;
}

/** The API server said no, or nothing. */
export class ApiError extends Error {
  override name = 'ApiError';

  /** @param status of HTTP; 0 when there was no answer. */
  constructor(
    readonly status: number,
    message: string,
    options?: { cause?: unknown },
  ) {
    super(message, options);
  }
}

/** Somebody else was first. */
export const isConflict = (error: unknown): boolean => error instanceof ApiError && error.status === 409;

const isMissing = (error: unknown): boolean => error instanceof ApiError && error.status === 404;

/** How long one call may take, in milliseconds: a server that is gone may never refuse. */
const patience_ms = 15_000;

/** The connection that KUBECONFIG names, or the one that every pod is given. @throws UserError */
export function loadKubeConfig(env: Readonly<Record<string, string | undefined>>): KubeConfig {
  const config = new KubeConfig();
  const path = env['KUBECONFIG'] ?? '';
  if (path === '' && (env['KUBERNETES_SERVICE_HOST'] ?? '') === '')
    throw new UserError('there is no Kubernetes here: KUBECONFIG is not set, and this is not a pod');
  try {
    if (path === '') config.loadFromCluster();
    else config.loadFromFile(path);
  } catch (cause) {
    throw new UserError(`the connection to Kubernetes cannot be read: ${messageOf(cause)}`, { cause });
  }
  if (config.getCurrentCluster() === null) throw new UserError(`${path} names no cluster to use`);
  return config;
}

/** Calls over a connection. */
export function createKubeApi(config: KubeConfig): KubeApi {
  const objects = config.makeApiClient(CustomObjectsApi);
  const core = config.makeApiClient(CoreV1Api);

  /** Options of one call: its deadline and, for patches, its media type. */
  const options = (contentType?: string): ConfigurationOptions => {
    const base: ConfigurationOptions =
      contentType === undefined ? {} : setHeaderOptions('Content-Type', contentType);
    const deadline = AbortSignal.timeout(patience_ms);
    const limit: NonNullable<ConfigurationOptions['middleware']>[number] = {
      pre: (request) => {
        request.setSignal(deadline as never);
        return resolved(request);
      },
      post: (response) => resolved(response),
    };
    return { middleware: [...(base.middleware ?? []), limit], middlewareMergeStrategy: 'append' };
  };
  const ask = async <T>(what: string, call: () => Promise<unknown>): Promise<T> => {
    try {
      return (await call()) as T;
    } catch (error) {
      throw asApiError(what, error);
    }
  };
  const orMissing = async <T>(call: Promise<T>): Promise<T | undefined> => {
    try {
      return await call;
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
  };
  const called = (verb: string, { plural }: Resource, namespace: string, name = ''): string =>
    `${verb} ${plural} ${namespace}${name === '' ? '' : `/${name}`}`;

  return {
    list: (resource, namespace, { labelSelector, fieldSelector } = {}) => {
      const wanted = {
        ...resource,
        ...(labelSelector === undefined ? {} : { labelSelector }),
        ...(fieldSelector === undefined ? {} : { fieldSelector }),
      };
      return ask(called('list', resource, namespace || '(all)'), () =>
        namespace === ''
          ? objects.listClusterCustomObject(wanted, options())
          : objects.listNamespacedCustomObject({ ...wanted, namespace }, options()),
      );
    },
    get: (resource, namespace, name) =>
      orMissing(
        ask(called('get', resource, namespace, name), () =>
          objects.getNamespacedCustomObject({ ...resource, namespace, name }, options()),
        ),
      ),
    create: (resource, namespace, body) =>
      ask(called('create', resource, namespace), () =>
        objects.createNamespacedCustomObject({ ...resource, namespace, body }, options()),
      ),
    replace: (resource, namespace, name, body) =>
      ask(called('replace', resource, namespace, name), () =>
        objects.replaceNamespacedCustomObject({ ...resource, namespace, name, body }, options()),
      ),
    apply: (resource, namespace, name, body, fieldManager) =>
      ask(called('apply', resource, namespace, name), () =>
        objects.patchNamespacedCustomObject(
          { ...resource, namespace, name, body, fieldManager, force: true },
          options(PatchStrategy.ServerSideApply),
        ),
      ),
    applyStatus: (resource, namespace, name, body, fieldManager) =>
      ask(called('apply status of', resource, namespace, name), () =>
        objects.patchNamespacedCustomObjectStatus(
          { ...resource, namespace, name, body, fieldManager, force: true },
          options(PatchStrategy.ServerSideApply),
        ),
      ),
    replaceSpec: (resource, namespace, name, spec, isDry) =>
      ask(called('replace spec of', resource, namespace, name), () =>
        objects.patchNamespacedCustomObject(
          {
            ...resource,
            namespace,
            name,
            body: [{ op: 'replace', path: '/spec', value: spec }],
            ...(isDry ? { dryRun: 'All' } : {}),
          },
          options(PatchStrategy.JsonPatch),
        ),
      ),
    merge: (resource, namespace, name, body) =>
      ask(called('patch', resource, namespace, name), () =>
        objects.patchNamespacedCustomObject(
          { ...resource, namespace, name, body },
          options(PatchStrategy.MergePatch),
        ),
      ),
    async remove(resource, namespace, name, uid) {
      const body = { propagationPolicy: 'Background', preconditions: { uid } };
      await orMissing(
        ask(called('delete', resource, namespace, name), () =>
          objects.deleteNamespacedCustomObject({ ...resource, namespace, name, body }, options()),
        ),
      );
    },
    configMap: (namespace, name) =>
      orMissing(
        ask<{ data?: Record<string, string> }>(`get configmaps ${namespace}/${name}`, () =>
          core.readNamespacedConfigMap({ namespace, name }, options()),
        ),
      ).then((found) => found && (found.data ?? {})),
  };
}

/** What the library awaits between its steps; it does not export the type. */
// biome-ignore lint/suspicious/noExplicitAny: as said
const resolved = (value: unknown): any => ({ toPromise: async () => value });

function asApiError(what: string, error: unknown): ApiError {
  const { code, body } = error as { code?: unknown; body?: unknown };
  const status = typeof code === 'number' ? code : 0;
  const said = status === 0 ? messageOf(error) : (messageIn(body) ?? messageOf(error));
  return new ApiError(status, `${what}: ${status === 0 ? '' : `${status} `}${said.slice(0, 1_000)}`, {
    cause: error,
  });
}

/** The message of a Status that the server sent. */
function messageIn(body: unknown): string | undefined {
  try {
    const value = (typeof body === 'string' ? JSON.parse(body) : body) as { message?: unknown } | null;
    return typeof value?.message === 'string' ? value.message : undefined;
  } catch {
    return undefined;
  }
}
