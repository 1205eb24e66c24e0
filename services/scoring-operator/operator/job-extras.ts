import { posix } from 'node:path';
import type { RightValues, Settings } from '../../common/runtime/config.js';
import { caVariable, ownVariables, ownVolumes, paths } from './environment.js';
import { podSchemas } from './pod-schemas.js';
import { asJson, asListByKey, type Json, list } from './setting-types.js';

type Named = Readonly<{ name: string }> & Json;
type Mount = Readonly<{ name: string; mountPath: string }> & Json;

const asVariableList = asListByKey<Named, 'name'>(podSchemas.env, 'name', 'a list of variables');
const asVolumeList = asListByKey<Named, 'name'>(podSchemas.volume, 'name', 'a list of volumes');
const asMountList = asListByKey<Mount, 'mountPath'>(podSchemas.volumeMount, 'mountPath', 'a list of mounts');

function asVariables(given: string): readonly Named[] | undefined {
  const variables = asVariableList(given);
  refuse(variables?.map(({ name }) => name).filter((name) => ownVariables.includes(name)));
  return variables;
}

function asVolumes(given: string): readonly Named[] | undefined {
  const volumes = asVolumeList(given);
  const own: readonly string[] = ownVolumes;
  refuse(volumes?.map(({ name }) => name).filter((name) => own.includes(name)));
  return volumes;
}

function asMounts(given: string): readonly Mount[] | undefined {
  const mounts = asMountList(given);
  const places = mounts?.map(({ mountPath }) => mountPath) ?? [];
  const wrong = places.filter((path) => !/^\/[^:]*$/.test(path));
  if (wrong.length > 0)
    throw new Error(`must have paths that begin with / and have no colon: ${wrong.join(', ')}`);
  const hiding = places.filter(isTaken);
  if (hiding.length > 0)
    throw new Error(`must not hide, or lie in, what the operator mounts: ${hiding.join(', ')}`);
  return mounts;
}

/** @throws Error that names what is the operator's to set. */
function refuse(taken: readonly string[] = []): void {
  // The one of them that has a setting of its own.
  const instead = taken.includes('LOG_LEVEL') ? ' (LOG_LEVEL by JOB_LOG_LEVEL)' : '';
  if (taken.length > 0)
    throw new Error(`must not have ${taken.join(', ')}: that is the operator's to set${instead}`);
}

/** Whether a mount would hide what the operator mounts, or lie in a volume that is read-only. */
function isTaken(path: string): boolean {
  const place = placed(path);
  return Object.values(paths)
    .map(placed)
    .some((own) => {
      const isBelow = place.startsWith(own) && own !== placed(paths.temporary);
      return own === place || own.startsWith(place) || isBelow;
    });
}

/** A folder with its closing slash, where it is in images: /var/run is a link there. */
const placed = (path: string): string =>
  `${posix.normalize(path)}/`.replace(/\/+$/, '/').replace(/^\/var\/run\//, '/run/');

/** What else is in the pods of Jobs. */
export const jobExtraSettings = {
  JOB_EXTRA_ENV: {
    doc: 'Further environment variables of Jobs as a JSON list, as in a pod, such as `[{"name":"NODE_OPTIONS","value":"--max-old-space-size=1024"}]`. Whoever may view the CronJobs sees a value that stands here: a secret is to be named (`valueFrom`), and to be there in every namespace of ScoringPrograms. Not those that the operator sets.',
    default: '',
    secret: true,
    parse: asVariables,
  },
  JOB_EXTRA_ENV_FROM: {
    doc: 'ConfigMaps and Secrets, in every namespace of ScoringPrograms, whose keys become environment variables of Jobs, as a JSON list as in a pod, such as `[{"configMapRef":{"name":"proxies","optional":true}}]`. What the operator sets wins.',
    default: '',
    parse: asJson<readonly Json[]>(list(podSchemas.envFrom), 'a list of ConfigMaps and Secrets'),
  },
  JOB_EXTRA_VOLUMES: {
    doc: 'Further volumes of the pods of Jobs as a JSON list, as in a pod. What they name has to be there in every namespace of ScoringPrograms. Not named as those of the operator: policy, signer, tls, ca, token, temporary.',
    default: '',
    secret: true,
    parse: asVolumes,
  },
  JOB_EXTRA_VOLUME_MOUNTS: {
    doc: 'Where they are mounted in the container of Jobs, as a JSON list, as in a pod.',
    default: '',
    parse: asMounts,
  },
} satisfies Settings;

/**
 * What these settings have to be together.
 *
 * @param hasAuthorities whether the operator gives Jobs certificates of further authorities.
 * @returns mistakes
 */
export function checkJobExtras(
  values: RightValues<typeof jobExtraSettings>,
  hasAuthorities: boolean,
): string[] {
  const { JOB_EXTRA_ENV = [], JOB_EXTRA_VOLUMES = [], JOB_EXTRA_VOLUME_MOUNTS = [] } = values;
  const mistakes: string[] = [];
  if (hasAuthorities && JOB_EXTRA_ENV.some(({ name }) => name === caVariable))
    mistakes.push(`JOB_EXTRA_ENV has ${caVariable}, and so do JOB_CA_CONFIGMAP or JOB_CA_SECRET: only one`);
  const known = new Set(JOB_EXTRA_VOLUMES.map(({ name }) => name));
  const lacking = JOB_EXTRA_VOLUME_MOUNTS.map(({ name }) => name).filter((name) => !known.has(name));
  // Absent: it was wrong itself.
  if (lacking.length > 0 && Object.hasOwn(values, 'JOB_EXTRA_VOLUMES'))
    mistakes.push(
      `JOB_EXTRA_VOLUME_MOUNTS mounts ${[...new Set(lacking)].join(', ')}: not in JOB_EXTRA_VOLUMES`,
    );
  return mistakes;
}
