// Two real mTLS carriers on loopback, each with an authority of its own, pinned by the other; for tests.
import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type MtlsCarrier, type MtlsOptions, mtlsCarrier } from '../../../adapters/transport/mtls/carrier.ts'
import type { AuditEvent } from '../../../daemon/kernel/audit/audit-chain.ts'
import type { CarriedMessage, MessageReceiver } from '../../../daemon/kernel/messaging/carrier.ts'
import { findFreePorts } from '../../support/engines/server-process.ts'
import { createAuthority, issueCertificate, type SiteAuthority } from '../../support/keys/site-certificates.ts'

export type MtlsEnd = {
  readonly carrier: MtlsCarrier
  readonly authority: SiteAuthority
  readonly cert_file: string
  readonly port: number
  readonly recorded: AuditEvent[]
  readonly events: string[]
  readonly counted: Record<string, number>
  readonly gauges: Map<string, number>
}

export type MtlsPair = {
  readonly dir: string
  readonly alpha: MtlsEnd
  readonly bravo: MtlsEnd
  end(): Promise<void>
}

/** Not started: the starter of a carrier decides which parcels land. `more`: of both. */
export async function createMtlsPair(more: Partial<MtlsOptions> = {}, base = fs.mkdtempSync(join(tmpdir(), 'mtls-'))) {
  const [alphaPort = 0, bravoPort = 0] = await findFreePorts(2)
  const authorities = { alpha: await createAuthority(base, 'alpha'), bravo: await createAuthority(base, 'bravo') }
  const end = async (site: 'alpha' | 'bravo', port: number, other: 'alpha' | 'bravo', otherPort: number) => {
    const { file: cert_file } = await issueCertificate(base, authorities[site], site)
    const pin = { url: `https://127.0.0.1:${otherPort}`, ca_file: authorities[other].file }
    return createMtlsEnd({ site, port, cert_file, peers: { [other]: pin }, ...more }, authorities[site])
  }
  const alpha = await end('alpha', alphaPort, 'bravo', bravoPort)
  const bravo = await end('bravo', bravoPort, 'alpha', alphaPort)
  return {
    dir: base,
    alpha,
    bravo,
    async end() {
      await alpha.carrier.stop()
      await bravo.carrier.stop()
      fs.rmSync(base, { recursive: true, force: true })
    },
  } satisfies MtlsPair
}

type MtlsEndOptions = Partial<MtlsOptions> & Pick<MtlsOptions, 'site' | 'port' | 'cert_file' | 'peers'>

export function createMtlsEnd(options: MtlsEndOptions, authority: SiteAuthority): MtlsEnd {
  const recorded: AuditEvent[] = []
  const events: string[] = []
  const counted: Record<string, number> = {}
  const gauges = new Map<string, number>()
  const log = (event: string) => void events.push(event)
  let random = 0
  const carrier = mtlsCarrier({
    tenant_id: `tenant-${options.site}`,
    listen: '127.0.0.1',
    key_file: options.cert_file,
    passphrase: () => undefined,
    parcel_limits: { max_envelope_bytes: 65_536, max_body_bytes: 4_194_304 },
    log: { debug: log, info: log, warn: log, error: log },
    metrics: {
      count: (_metric, labels) => {
        const { why = '' } = labels as Record<string, string>
        counted[why] = (counted[why] ?? 0) + 1
      },
      set: (_metric, labels, value) => void gauges.set(String(Object.values(labels)[0]), value),
    },
    record: async (all) => void recorded.push(...all),
    random: (bytes) => (random++).toString(16).padStart(bytes * 2, '0'),
    now: () => Date.now(),
    reload_interval_ms: 20,
    ...options,
  })
  const { cert_file, port } = options
  return { carrier, authority, cert_file, port, recorded, events, counted, gauges }
}

export function buildParcel(seq: number, body = `{"number":${seq}}`): CarriedMessage {
  return { epoch: 1, seq, envelope: Buffer.from(`{"payload":"${seq}"}`), body: Buffer.from(body) }
}

/** Takes everything, and collects it by peer. */
export function createReceiver() {
  const taken: { peer: string; parcel: CarriedMessage }[] = []
  const land: MessageReceiver = async (peer, parcels) => {
    taken.push(...parcels.map((parcel) => ({ peer, parcel })))
    return parcels.map(() => 'landed' as const)
  }
  return { taken, land }
}

/** Long enough for every wait of a test. */
export const createTimeoutSignal = () => AbortSignal.timeout(30_000)
