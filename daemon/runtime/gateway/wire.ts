// Connects the gateway role to adapters: the registry of services, the tools of the other roles, the guardrails.
import type { RoleWire } from '../../boot/role-wire.ts'
import { offersTools } from '../../kernel/api/mcp-tools.ts'
import { getSettings } from '../../kernel/settings/get-settings.ts'
import { labelSettings } from '../../kernel/settings/platform-settings.ts'
import { guardrailsPart } from '../../roles/gateway/guardrail/guard-call.ts'
import { findChatProblems, openChat } from './open-chat.ts'
import { findGuardrailProblems, openGuardrails } from './open-guardrails.ts'
import { findIngressProblems, openIngresses } from './open-ingresses.ts'
import { findRegistryProblems, openRegistry } from './open-registry.ts'
import { openRest } from './open-rest.ts'
import { openTools } from './open-tools.ts'

export const wire: RoleWire = {
  async findStartProblems({ resolved }) {
    const { levels } = getSettings(resolved, labelSettings)
    return [
      ...findRegistryProblems(resolved),
      ...findGuardrailProblems(resolved, levels),
      ...findIngressProblems(resolved),
      ...findChatProblems(resolved),
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
    const tools = await openTools(resources, isOffering)
    return {
      parts: [
        ...openRegistry(settings),
        [guardrailsPart.name, guardrails] as const,
        ...[rest.part, tools.part, ingresses.part, openChat(settings, tools.list)],
      ],
      dependencies: ingresses.dependencies,
      listeners: rest.listeners,
      start: ingresses.start,
      stop: ingresses.stop,
      remove() {
        rest.close()
        tools.close()
      },
      ...(isOffering ? { tools: tools.list, resources: tools.resources } : {}),
    }
  },
}
