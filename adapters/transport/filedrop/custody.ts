// Operator decisions about stored bytes: release from quarantine, dismissal, and purge.

import { refuse } from '../../../daemon/kernel/error/errors.ts'
import type { Custody } from '../../../daemon/kernel/messaging/custody.ts'
import type { FiledropContext } from './filedrop-context.ts'
import type { FiledropLinkRuntime } from './link/link-runtime.ts'
import { dismissItem } from './quarantine/dismiss-item.ts'
import { purgeRunner } from './quarantine/purge-runner.ts'
import { recordRelease } from './quarantine/release.ts'

/** `links`: the links to all pinned peers. */
export function custody(filedrop: FiledropContext, links: () => Promise<readonly FiledropLinkRuntime[]>): Custody {
  const { purge } = purgeRunner(filedrop, links)
  return {
    purge,
    async dismiss(peer, id, audit) {
      const refused = await dismissItem(filedrop, peer, id, audit)
      const running = (await links()).find(({ link }) => link.peer === peer)
      running?.intake()?.recount()
      running?.trigger()
      return refused
    },
    async release(peer, terms, audit) {
      const running = (await links()).find(({ link }) => link.peer === peer)
      if (!running) return refuse('not_found', `there is no peer ${peer}`)
      const refused = await recordRelease(running.link, filedrop, terms, audit)
      if (!refused) running.trigger()
      return refused
    },
  }
}
