// The mTLS carrier: HTTPS between two sites that know each other by certificates of pinned authorities.
import type { AuditEvent } from '../../../daemon/kernel/audit.ts'
import type { Log } from '../../../daemon/kernel/call.ts'
import type { Carrier, Landed } from '../../../daemon/kernel/carrier.ts'
import type { Metrics } from '../../../daemon/kernel/metrics.ts'
import { Client } from './client.ts'
import { defaultLimits, type Limits } from './limits.ts'
import { type Listener, listen } from './listener.ts'
import type { Material, PinFiles } from './material.ts'
import { certificateEnd } from './metrics.ts'
import { refusals } from './refusals.ts'
import { watchedMaterial } from './watched-material.ts'

export type MtlsOptions = {
  readonly site: string
  readonly tenant_id: string
  readonly listen: string
  /** 0 takes a free one. */
  readonly port: number
  readonly cert_file: string
  readonly key_file: string
  readonly passphrase: () => string | undefined
  readonly peers: Readonly<Record<string, PinFiles & { readonly url: string }>>
  readonly parcel_limits: { readonly max_envelope_bytes: number; readonly max_body_bytes: number }
  readonly log: Log
  readonly metrics: Pick<Metrics, 'count' | 'set'>
  readonly record: (events: readonly AuditEvent[]) => Promise<void>
  readonly random: (bytes: number) => string
  readonly now: () => number
  /** How often the files are read again. */
  readonly look_every_ms?: number
  readonly limits?: Partial<Limits>
}

export type MtlsCarrier = Carrier & {
  /** Who asks is answered as soon as it has landed. */
  start(land: Landed): Promise<void>
  /** That of the listener; 0 before `start`. */
  port(): number
}

const look_every_ms = 5_000

/** Throws an Error with its remedy for certificates, keys and pins that cannot be used. Nothing listens before `start`. */
export function mtlsCarrier(options: MtlsOptions): MtlsCarrier {
  const { log, now } = options
  const limits = { ...defaultLimits, ...options.limits }
  const material = watchedMaterial(options, {
    every_ms: options.look_every_ms ?? look_every_ms,
    log,
    changed(found) {
      listener?.renew(found)
      tellEnds(options, found)
    },
  })
  tellEnds(options, material.current())
  const urls = Object.fromEntries(Object.entries(options.peers).map(([name, { url }]) => [name, url]))
  const client = new Client({ urls, material: material.current, now })
  let listener: Listener | undefined
  return {
    name: 'mtls',
    peers: Object.keys(options.peers),
    port: () => listener?.port ?? 0,
    carry: (peer, parcels, signal) => client.carry(peer, parcels, signal),
    async start(land) {
      const { listen: host, port, parcel_limits } = options
      const refuse = refusals(options)
      listener = await listen({ host, port, parcel_limits, limits, log, refuse, now, land, material: material.current })
      log.info('mtls.listening', { host, port: listener.port })
    },
    async health() {
      const troubles = [
        listener?.isListening() ? undefined : 'nothing listens',
        material.fault(),
        now() > material.current().own.validToDate.getTime() ? 'the certificate of this site has ended' : undefined,
      ].filter((each) => each !== undefined)
      return { ok: troubles.length === 0, detail: troubles.join('; ') }
    },
    async stop() {
      material.stop()
      client.close()
      await listener?.close()
      listener = undefined
    },
  }
}

function tellEnds({ metrics, site }: MtlsOptions, { own, pins }: Material): void {
  const seconds = (date: Date) => date.getTime() / 1_000
  metrics.set(certificateEnd, { of: site }, seconds(own.validToDate))
  for (const [peer, { authorities }] of pins) {
    metrics.set(certificateEnd, { of: peer }, Math.max(...authorities.map(({ validToDate }) => seconds(validToDate))))
  }
}
