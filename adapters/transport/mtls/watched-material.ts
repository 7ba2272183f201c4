// Reloads certificates, keys and pins while the site runs, and applies them only when they are valid.
import type { Log } from '../../../daemon/kernel/telemetry/log.ts'
import { hashFiles, type MtlsMaterial, readMaterial, type TlsFiles } from './material.ts'

export type WatchedMaterial = {
  /** The newest that was sound. */
  current(): MtlsMaterial
  /** Why what lies on disk now is not in force; undefined while it is. */
  fault(): string | undefined
  stop(): void
}

/** Files that change by a rename are seen at the next look. Throws as `readMaterial` does when they are not sound at first. */
export function watchedMaterial(
  files: TlsFiles,
  { every_ms, log, changed }: { every_ms: number; log: Log; changed: (material: MtlsMaterial) => void },
): WatchedMaterial {
  let stamp = hashFiles(files)
  let material = readMaterial(files)
  let fault: string | undefined
  const look = () => {
    const now = hashFiles(files)
    if (now === stamp) return
    stamp = now
    try {
      const found = readMaterial(files)
      if (fault !== undefined) log.info('mtls.files.valid', { site: files.site })
      fault = undefined
      material = found
      log.info('mtls.files.changed', { not_after: found.own_certificate.validToDate.toISOString() })
      changed(found)
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error)
      if (why !== fault) log.error('mtls.files.invalid', { why, in_force: 'those from before' })
      fault = why
    }
  }
  const timer = setInterval(look, every_ms).unref()
  return { current: () => material, fault: () => fault, stop: () => clearInterval(timer) }
}
