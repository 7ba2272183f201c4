// A courier for tests: exports from alpha and imports at bravo, by a medium that is a folder of the test's world.
import * as fs from 'node:fs'
import { join } from 'node:path'
import { type Exported, exportChannel } from '../../../adapters/transport/filedrop/courier/exporting.ts'
import type { Hands } from '../../../adapters/transport/filedrop/courier/hands.ts'
import { type Imported, importMedia } from '../../../adapters/transport/filedrop/courier/importing.ts'
import { foldersOf } from '../../../adapters/transport/filedrop/layout.ts'
import { lineTo } from '../../../adapters/transport/filedrop/line.ts'
import { filedropSettings } from '../../../adapters/transport/filedrop/settings.ts'
import { statementFormats } from '../../../daemon/kernel/statement-format.ts'
import type { Site, World } from './two-sites.ts'

export const steady: Hands = { site: (act) => act(), medium: (act) => act() }

/** Hands that can do so many steps more, and then nothing at all, as those of a process that has died. */
export function dying(steps: number): Hands & { hasDied(): boolean } {
  let left = steps
  const step = <T>(act: () => T): T => {
    if (left-- <= 0) throw new Error('the process died here')
    return act()
  }
  return { site: step, medium: step, hasDied: () => left < 0 }
}

export function mediumOf(world: World, name = 'medium'): string {
  const path = join(world.dir, name)
  fs.mkdirSync(path, { recursive: true })
  return path
}

type More = { readonly hands?: Hands; readonly progress?: (done: number, all: number) => void }
let random = 0

export function exported(world: World, media: string, more: More = {}): Promise<Exported> {
  const { site, signatures, journal, label_policy } = world.alpha.options()
  const peer = world.alpha.pinned.get('bravo')
  if (!peer) throw new Error('bravo is pinned')
  return exportChannel({ line: lineTo('bravo', { root: world.alpha.root, site: 'alpha' }), peer }, media, {
    ...{ site, signatures, journal, label_policy, formats: statementFormats, settings: filedropSettings.parse({}) },
    ...{ now: () => world.clock.ms, random: counting, hands: steady, progress: () => undefined },
    ...more,
  })
}

export function imported(world: World, media: string, more: More = {}, to: Site = world.bravo): Promise<Imported> {
  const { site, signatures, peers, root } = to.options()
  return importMedia(media, {
    ...{ site, signatures, peer: (name) => peers.get(name), folders: (name) => foldersOf(root, name) },
    ...{ settings: filedropSettings.parse({}), random: counting, hands: steady, progress: () => undefined },
    ...more,
  })
}

/** Never the same twice, also over what is a restart to the site. */
function counting(bytes: number): string {
  random += 1
  return random.toString(16).padStart(bytes * 2, '0')
}
