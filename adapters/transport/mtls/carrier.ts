// The mTLS carrier: HTTPS between two sites that identify each other by certificates of pinned authorities.
import type { AuditEvent } from '../../../daemon/kernel/audit/audit-chain.ts'
import type { Carrier, MessageReceiver } from '../../../daemon/kernel/messaging/carrier.ts'
import type { Log } from '../../../daemon/kernel/telemetry/log.ts'
import type { Metrics } from '../../../daemon/kernel/telemetry/metrics.ts'
import { MtlsClient } from './client.ts'
import { defaultMtlsLimits, type MtlsLimits } from './limits.ts'
import { type MtlsListener, startMtlsListener } from './listener.ts'
import type { MtlsMaterial, PinFiles } from './material.ts'
import { certificateEnd } from './metrics.ts'
import { refusalReporter } from './refusals.ts'
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
  readonly reload_interval_ms?: number
  readonly limits?: Partial<MtlsLimits>
}

export type MtlsCarrier = Carrier & {
  /** The sender is answered as soon as the parcels have landed. */
  start(land: MessageReceiver): Promise<void>
  /** Port of the listener; 0 before `start`. */
  port(): number
}

const reload_interval_ms = 5_000

/** Throws an Error with its remedy for certificates, keys and pins that cannot be used. Nothing listens before `start`. */
export function mtlsCarrier(options: MtlsOptions): MtlsCarrier {
  const { log, now } = options
  const limits = { ...defaultMtlsLimits, ...options.limits }
  const material = watchedMaterial(options, {
    every_ms: options.reload_interval_ms ?? reload_interval_ms,
    log,
    changed(found) {
      listener?.renew(found)
      reportExpiry(options, found)
    },
  })
  reportExpiry(options, material.current())
  const urls = Object.fromEntries(Object.entries(options.peers).map(([name, { url }]) => [name, url]))
  const client = new MtlsClient({ urls, material: material.current, now })
  let listener: MtlsListener | undefined
  return {
    name: 'mtls',
    peers: Object.keys(options.peers),
    port: () => listener?.port ?? 0,
    carry: (peer, parcels, signal) => client.carry(peer, parcels, signal),
    async start(land) {
      const { listen: host, port, parcel_limits } = options
      const refuse = refusalReporter(options)
      listener = await startMtlsListener({
        host,
        port,
        parcel_limits,
        limits,
        log,
        reportRefusal: refuse,
        now,
        land,
        material: material.current,
      })
      log.info('mtls.listening', { host, port: listener.port })
    },
    async health() {
      const troubles = [
        listener?.isListening() ? undefined : 'nothing listens',
        material.fault(),
        now() > material.current().own_certificate.validToDate.getTime()
          ? 'the certificate of this site has expired'
          : undefined,
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

function reportExpiry({ metrics, site }: MtlsOptions, { own_certificate, pins }: MtlsMaterial): void {
  const seconds = (date: Date) => date.getTime() / 1_000
  metrics.set(certificateEnd, { of: site }, seconds(own_certificate.validToDate))
  for (const [peer, { authorities }] of pins) {
    metrics.set(certificateEnd, { of: peer }, Math.max(...authorities.map(({ validToDate }) => seconds(validToDate))))
  }
}
