// The links of the site to its peers: opened with the site role, started when every role serves, stopped before any.

import { rolePresence } from '../../boot/host/role-presence.ts'
import { buildDeliverySpan, inboundDelivery } from '../../boot/links/inbound-delivery.ts'
import type { LinkPump } from '../../boot/links/link-pump.ts'
import { startLinkPumps } from '../../boot/links/network-carriers.ts'
import { openTransports } from '../../boot/links/transports.ts'
import { readEpoch_ms, roleCaller } from '../../boot/role-caller.ts'
import type { WireContext, WiredRole } from '../../boot/role-wire.ts'
import { stop_grace_ms, waitAtMost } from '../../boot/stop-limits.ts'
import { refuse } from '../../kernel/error/errors.ts'
import type { Sandbox } from '../../kernel/sandbox/sandbox.ts'
import { getSettings } from '../../kernel/settings/get-settings.ts'
import { platformSettings } from '../../kernel/settings/platform-settings.ts'
import { reportThrottle } from '../../kernel/telemetry/report-throttle.ts'
import { runInSpan } from '../../kernel/telemetry/spans.ts'
import type { StatusFeed } from '../../shared/coalition/status-feed.ts'

export type SiteLinks = Required<Pick<WiredRole, 'start' | 'stop' | 'remove'>> & { readonly statusFeed: StatusFeed }

/** Fills the transports and carriers of the process, which its health reports. */
export function siteLinks(context: WireContext, sandbox: Sandbox | undefined): SiteLinks {
  const { resources, role, storage, metrics, log } = context
  const { transports, carriers, spans, verifiedMessages, peers, directory } = resources
  const linkPumps: LinkPump[] = []
  const feeds: StatusFeed[] = []
  transports.push(...openTransports({ ...resources, storage, log, metrics, sandbox }))

  const startTransports = async () => {
    const isPresent = rolePresence(directory, getSettings(resources.resolved, platformSettings).roles)
    const throttle = reportThrottle(resources.clock.now)
    const deliver = inboundDelivery(roleCaller(directory, role.name), isPresent, log, throttle)
    for (const transport of transports) {
      await transport.start((message, received) => {
        const trace = spans?.start(received) ?? received
        return runInSpan(
          spans,
          buildDeliverySpan(transport.name, message, trace),
          readEpoch_ms,
          ({ verdict }) => verdict === 'later',
          () => verifiedMessages.retainDuring(message, peers, () => deliver(message, trace)),
        )
      })
    }
  }
  return {
    statusFeed: {
      // The networks start after the roles: an event that comes before is delivered at a later try.
      async publish(event) {
        const [feed] = feeds
        if (!feed) throw refuse('unavailable', 'the site has not joined the coalition yet')
        await feed.publish(event)
      },
    },
    async start() {
      await startTransports()
      // Networks start last, since they deliver messages to the running transports.
      const handover = transports.find((transport) => transport.handover)?.handover
      const record = (events: Parameters<typeof storage.audit.append>[0]) => storage.audit.append(events)
      if (handover)
        await startLinkPumps({ ...resources, metrics, record, log }, handover, { carriers, feeds, linkPumps })
    },
    async stop(drain_ms) {
      for (const part of [...linkPumps, ...transports]) await waitAtMost(drain_ms + stop_grace_ms, part.stop())
    },
    // Health must not report carriers that do not run.
    remove() {
      transports.splice(0)
      carriers.splice(0)
    },
  }
}
