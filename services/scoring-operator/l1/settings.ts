import { asText, asUrls, type Settings } from '../../common/runtime/config.js';
import type { L1Module } from './stage.js';

function asModuleAddress(text: string): string {
  if (text !== '' && !/^(0x[0-9a-fA-F]{1,64}|[a-z][a-z0-9]*1[02-9ac-hj-np-z]{38,58})$/.test(text)) {
    throw new Error('must be 0x and hex digits, or a bech32 address');
  }
  return text;
}

function asMoveName(text: string): string {
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(text)) throw new Error('must be letters, digits and _');
  return text;
}

/** Where the rewards program lives on the L1. */
export const l1Settings = {
  L1_REST_URL: { doc: 'Cosmos REST URLs of the L1, separated by commas.', default: '', parse: asUrls },
  VIP_MODULE_ADDRESS: {
    doc: "Address of the program's module on the L1, hex or bech32. No default: networks differ, and so do their descriptions.",
    default: '',
    parse: asModuleAddress,
  },
  VIP_MODULE_NAME: { doc: 'Name of that module.', default: 'vip', parse: asMoveName },
  L1_PATH_PREFIX: {
    doc: "First part of the REST path of the L1's Move module.",
    default: 'initia',
    parse: (text: string): string => {
      if (!/^[a-z][a-z0-9-]*$/.test(asText(text)))
        throw new Error('must be lower-case letters, digits and -');
      return text;
    },
  },
} satisfies Settings;

/** The module that settings name. */
export const l1ModuleOf = (config: {
  readonly VIP_MODULE_ADDRESS: string;
  readonly VIP_MODULE_NAME: string;
  readonly L1_PATH_PREFIX: string;
}): L1Module => ({
  address: config.VIP_MODULE_ADDRESS,
  name: config.VIP_MODULE_NAME,
  prefix: config.L1_PATH_PREFIX,
});
