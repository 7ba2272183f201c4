// Connects the gateway role to adapters: the registry of services, the tools of the other roles, the guardrails.
import type { RoleWire } from '../../boot/role-wire.ts'
import { offersTools } from '../../kernel/api/mcp-tools.ts'
import { getSettings } from '../../kernel/settings/get-settings.ts'
import { labelSettings } from '../../kernel/settings/platform-settings.ts'
import { guardrailsPart } from '../../roles/gateway/guardrail/guard-call.ts'
import { findChatProblems, openChat } from './open-chat.ts'
import { findEmbedderProblems, openEmbedders } from './open-embedder.ts'
import { findGuardrailProblems, openGuardrails } from './open-guardrails.ts'
import { openGuidance } from './open-guidance.ts'
import { openGuide } from './open-guide.ts'
import { findIngressProblems, openIngresses } from './open-ingresses.ts'
import { findRegistryProblems, openRegistry } from './open-registry.ts'
import { openRest } from './open-rest.ts'
import { openStdioServers } from './open-stdio-servers.ts'
import { openTools } from './open-tools.ts'
import { findStdioServerProblems } from './stdio-server-problems.ts'

export const wire: RoleWire = {
  async findStartProblems({ resolved, folder }) {
    const { levels } = getSettings(resolved, labelSettings)
    return [
      ...findRegistryProblems(resolved),
      ...findGuardrailProblems(resolved, levels),
      ...findIngressProblems(resolved),
      ...findChatProblems(resolved),
      ...findEmbedderProblems(resolved),
      ...findStdioServerProblems(resolved, folder),
    ]
  },

  async open(context) {
    const { role, resources } = context
    const { resolved: settings, site } = resources
    const guardrails = openGuardrails(resources)
    const rest = openRest(settings, guardrails)
    const ingresses = await openIngresses(context)
    const { deployment_profile } = site
    const isOffering = offersTools({ role, deployment: { deployment_profile, settings } })
    const stdioServers = openStdioServers(resources, context.log)
    const tools = await openTools(resources, stdioServers, isOffering)
    return {
      parts: [
        ...openRegistry(settings),
        ...openEmbedders(settings),
        ...openGuidance(resources),
        [guardrailsPart.name, guardrails] as const,
        ...openGuide(resources),
        ...[rest.part, tools.part, stdioServers.part, ingresses.part, openChat(settings, tools.list)],
      ],
      dependencies: ingresses.dependencies,
      listeners: rest.listeners,
      async start() {
        await ingresses.start?.()
        await stdioServers.start()
      },
      async stop(drain_ms) {
        await Promise.all([ingresses.stop?.(), stdioServers.close(drain_ms)])
      },
      remove() {
        rest.close()
        tools.close()
      },
      ...(isOffering ? { tools: tools.list, resources: tools.resources } : {}),
    }
  },
}
