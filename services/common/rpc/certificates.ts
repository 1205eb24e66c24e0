import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import type { experimental } from '@grpc/grpc-js';
import { messageOf, UserError } from '../runtime/errors.js';
import type { Log } from '../runtime/log.js';

/** PEM files: a certificate (with those between it and the CA), its private key, and the CA of both sides. */
export interface CertificateFiles {
  readonly certificate: string;
  readonly key: string;
  readonly ca: string;
}

type Contents = { readonly [Name in keyof CertificateFiles]: Buffer };

/** Certificates that are read again when their files change. */
export interface Certificates extends experimental.CertificateProvider {
  close(): void;
}

export interface WatchOptions {
  readonly reload_ms: number;
  readonly log: Log;
  /** Told when the certificate that is in use from now on ends, in milliseconds since the epoch. */
  readonly onUse: (expires_at: number) => void;
}

/**
 * Reads certificates, and reads them again every `reload_ms`. The library's own watcher drops
 * what it has when a file cannot be read, or when certificate and key do not belong together
 * as they may for a moment during a renewal; this one keeps what worked, and says so in the log.
 *
 * @throws UserError that names the file, when they cannot be used at the start.
 */
export function watchCertificates(
  files: CertificateFiles,
  { reload_ms, log, onUse }: WatchOptions,
): Certificates {
  let current = readAll(files);
  onUse(expiryOf(current, files));
  let complaint = '';
  const caListeners = new Set<experimental.CaCertificateUpdateListener>();
  const identityListeners = new Set<experimental.IdentityCertificateUpdateListener>();

  const ca = () => ({ caCertificate: current.ca });
  const identity = () => ({ certificate: current.certificate, privateKey: current.key });

  const reload = (): void => {
    try {
      const found = readAll(files);
      if (isSame(found, current)) return;
      const expires_at = expiryOf(found, files);
      current = found;
      onUse(expires_at);
      complaint = '';
      for (const listener of caListeners) listener(ca());
      for (const listener of identityListeners) listener(identity());
      log.info({ expires_at: new Date(expires_at).toISOString() }, 'new certificates are in use');
    } catch (error) {
      if (messageOf(error) === complaint) return;
      complaint = messageOf(error);
      log.error(`the certificates in use stay: ${complaint}`);
    }
  };
  const timer = setInterval(reload, reload_ms);
  timer.unref();

  return {
    close: () => clearInterval(timer),
    addCaCertificateListener: (listener) => {
      caListeners.add(listener);
      // Not at once: the library takes nothing before it has taken the listener.
      process.nextTick(() => listener(ca()));
    },
    removeCaCertificateListener: (listener) => caListeners.delete(listener),
    addIdentityCertificateListener: (listener) => {
      identityListeners.add(listener);
      process.nextTick(() => listener(identity()));
    },
    removeIdentityCertificateListener: (listener) => identityListeners.delete(listener),
  };
}

const names = ['certificate', 'key', 'ca'] as const;

/** A few kB, once in a while: reading them holds nothing up. @throws UserError that names the file. */
function readAll(files: CertificateFiles): Contents {
  const [certificate, key, ca] = names.map((name) => {
    try {
      return readFileSync(files[name]);
    } catch (error) {
      throw new UserError(`${files[name]} cannot be read: ${messageOf(error)}`, { cause: error });
    }
  });
  return { certificate, key, ca } as Contents;
}

const isSame = (a: Contents, b: Contents): boolean => names.every((name) => a[name].equals(b[name]));

/** When the certificate ends, in milliseconds since the epoch. @throws UserError when TLS could not be spoken with these. */
function expiryOf({ certificate, key, ca }: Contents, files: CertificateFiles): number {
  const parsed = (pem: Buffer, path: string): X509Certificate => {
    try {
      return new X509Certificate(pem);
    } catch {
      throw new UserError(`${path} is no certificate in PEM`);
    }
  };
  const own = parsed(certificate, files.certificate);
  parsed(ca, files.ca);
  try {
    createSecureContext({ cert: certificate, key, ca });
  } catch {
    // What OpenSSL says of a key may quote it.
    throw new UserError(`${files.key} is not the private key of ${files.certificate}`);
  }
  return Date.parse(own.validTo);
}
