// A courier for tests: exports from alpha and imports at bravo, by a medium that is a folder of the test's sites.

import * as fs from 'node:fs'
import { join } from 'node:path'
import type { CourierSteps } from '../../../adapters/transport/filedrop/courier/courier-steps.ts'
import { exportChannel, type MediaExport } from '../../../adapters/transport/filedrop/courier/export-channel.ts'
import { importMedia, type MediaImport } from '../../../adapters/transport/filedrop/courier/import-media.ts'
import { foldersOf } from '../../../adapters/transport/filedrop/files/channel-folders.ts'
import { filedropLink } from '../../../adapters/transport/filedrop/link/filedrop-link.ts'
import { filedropSettings } from '../../../adapters/transport/filedrop/settings.ts'
import { statementFormatsFor } from '../../../daemon/kernel/messaging/statement-format.ts'
import { messageKinds } from '../../../daemon/message-kinds.ts'
import type { FiledropSite, FiledropSites } from './filedrop-sites.ts'

export const steadySteps: CourierSteps = { site: (act) => act(), medium: (act) => act() }

/** Allows this many steps and then fails each, as if the process had died. */
export function createDyingSteps(count: number): CourierSteps & { hasDied(): boolean } {
  let left = count
  const step = <T>(act: () => T): T => {
    if (left-- <= 0) throw new Error('the process died here')
    return act()
  }
  return { site: step, medium: step, hasDied: () => left < 0 }
}

export function createMedium(sites: FiledropSites, name = 'medium'): string {
  const path = join(sites.dir, name)
  fs.mkdirSync(path, { recursive: true })
  return path
}

type CourierOptions = { readonly steps?: CourierSteps; readonly progress?: (done: number, all: number) => void }
let randomCount = 0

export function exportFromAlpha(sites: FiledropSites, media: string, more: CourierOptions = {}): Promise<MediaExport> {
  const { site, signatures, journal, label_policy } = sites.alpha.options()
  const peer = sites.alpha.pinned.get('bravo')
  if (!peer) throw new Error('bravo is pinned')
  return exportChannel({ link: filedropLink('bravo', { root: sites.alpha.root, site: 'alpha' }), peer }, media, {
    ...{
      site,
      signatures,
      journal,
      label_policy,
      formats: statementFormatsFor(messageKinds),
      settings: filedropSettings.parse({}),
    },
    ...{ now: () => sites.clock.ms, random: nextRandom, steps: steadySteps, progress: () => undefined },
    ...more,
  })
}

export function importAtBravo(
  sites: FiledropSites,
  media: string,
  more: CourierOptions = {},
  to: FiledropSite = sites.bravo,
): Promise<MediaImport> {
  const { site, signatures, peers, root } = to.options()
  return importMedia(media, {
    ...{ site, signatures, peer: (name) => peers.get(name), folders: (name) => foldersOf(root, name) },
    ...{ settings: filedropSettings.parse({}), random: nextRandom, steps: steadySteps, progress: () => undefined },
    ...more,
  })
}

/** Never the same twice, also over a restart of the site. */
function nextRandom(bytes: number): string {
  randomCount += 1
  return randomCount.toString(16).padStart(bytes * 2, '0')
}
