// Certificates of a listener that change in their files: the connections that follow get the new ones, without a restart.
import { readFileSync } from 'node:fs'
import type { ListenerTls } from '../../adapters/platform/http-server/listener-tls.ts'
import type { Log } from '../kernel/telemetry/log.ts'
import { findPairFault, findValidityFault, type ListenerKeyPair } from './listener-certificates.ts'

/** TLS of a listener beyond the settings that every listener has. */
export type ListenerTlsOptions = {
  readonly min_version: '1.2' | '1.3'
  readonly certificates: readonly HostCertificateFiles[]
  /** Between two looks at the files. */
  readonly reload_ms: number
}

export type HostCertificateFiles = {
  readonly hosts: readonly string[]
  readonly cert_file: string
  readonly key_file: string
}

/** Throws where a file cannot be read. */
export function addTlsOptions(tls: ListenerTls, { min_version, certificates }: ListenerTlsOptions): ListenerTls {
  const hosts = certificates.map((files) => ({ names: files.hosts, ...readPair(files) }))
  return { ...tls, minVersion: tls.minVersion ?? `TLSv${min_version}`, hosts }
}

export function readPair({
  cert_file,
  key_file,
}: Pick<HostCertificateFiles, 'cert_file' | 'key_file'>): ListenerKeyPair {
  return { cert: readFileSync(cert_file, 'utf8'), key: readFileSync(key_file, 'utf8') }
}

export type FollowedCertificates = {
  readonly listener: string
  readonly running: ListenerTls
  /** Throws where the files cannot be read. */
  readonly read: () => ListenerTls
  readonly replace: (tls: ListenerTls) => void
  readonly log: Log
  /** Epoch milliseconds. */
  readonly now: () => number
}

/**
 * The function to call again and again. A pair that is not whole yet, since its two files are replaced one after the other, or
 * that cannot be used, changes nothing; the log has one line for it.
 */
export function followCertificates({ listener, running, read, replace, log, now }: FollowedCertificates): () => void {
  let servedPairs = listPairs(running)
  let refused: string | undefined
  return () => {
    const found = readOrFault(read, servedPairs, now())
    if (typeof found === 'string') {
      if (refused !== found) log.error('listener.certificate.refused', { listener, fault: found })
      refused = found
      return
    }
    refused = undefined
    const pairs = listPairs(found)
    if (pairs.size === servedPairs.size && [...pairs].every((pair) => servedPairs.has(pair))) return
    replace(found)
    servedPairs = pairs
    log.info('listener.certificate.replaced', { listener })
  }
}

const listOwnAndHosts = ({ cert, key, ca, hosts = [] }: ListenerTls) => [{ cert, key, ca }, ...hosts]

/** Each pair with its hosts, as text. */
function listPairs(tls: ListenerTls): ReadonlySet<string> {
  return new Set(listOwnAndHosts(tls).map((pair) => JSON.stringify(pair)))
}

/** A pair that is served already may have expired: that must not keep the others from being renewed. */
function readOrFault(read: () => ListenerTls, served: ReadonlySet<string>, now: number): ListenerTls | string {
  try {
    const tls = read()
    const changed = listOwnAndHosts(tls).filter((pair) => !served.has(JSON.stringify(pair)))
    const faults = changed.map((pair) => findPairFault(pair) ?? findValidityFault(pair, now))
    return faults.find((fault) => fault !== undefined) ?? tls
  } catch {
    return 'a file cannot be read'
  }
}
