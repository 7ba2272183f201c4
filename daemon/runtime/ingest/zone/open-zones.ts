// Opens the landing zones of this machine as the profile has them, with its scanner.
import { type BodyScanner, bodyScanner, scanLimits } from '../../../../adapters/platform/body-scanner/body-scanner.ts'
import { trialBody } from '../../../../adapters/platform/body-scanner/trial-body.ts'
import { openCommandSandbox } from '../../../boot/host/command-sandbox.ts'
import type { WireContext } from '../../../boot/role-wire.ts'
import { getSettings } from '../../../kernel/settings/get-settings.ts'
import type { IncomingSets } from '../../../roles/ingest/landing-zone/incoming-sets.ts'
import type { LandingZoneFiles } from '../../../roles/ingest/landing-zone/zone-files.ts'
import { settings } from '../../../roles/ingest/settings.ts'
import { findZonesFolder } from '../open-task-performer.ts'
import { openIncomingSets } from './open-incoming-sets.ts'
import { openZoneFiles } from './open-zone-files.ts'

const day_ms = 86_400_000

type LandingZones = { readonly files: LandingZoneFiles; readonly sets: IncomingSets }

export async function openLandingZones(context: WireContext): Promise<LandingZones> {
  const { folder, resolved } = context.resources
  const { landing_max_file_mb, landing_settle_s, landing_keep_days } = getSettings(resolved, settings)
  const folders = {
    root: findZonesFolder(folder, resolved),
    max_file_bytes: landing_max_file_mb * 1_048_576,
    settle_ms: landing_settle_s * 1_000,
    keep_ms: landing_keep_days * day_ms,
    scanner: await openScanner(context),
  }
  return { files: openZoneFiles(folders), sets: openIncomingSets(folders) }
}

async function openScanner({ log, resources: { resolved, site } }: WireContext): Promise<BodyScanner | undefined> {
  const { landing_scanner: scanner } = getSettings(resolved, settings)
  if (!scanner) return undefined
  const sandbox = await openCommandSandbox(log, scanLimits(scanner))
  return bodyScanner(scanner, sandbox, trialBody(site.tenant_id, site.labels))
}
