// Connects the gateway role to the tools of the other roles, and to its guardrails.
import type { RoleWire } from '../../boot/role-wire.ts'
import { offersTools } from '../../kernel/api/mcp-tools.ts'
import { getSettings } from '../../kernel/settings/get-settings.ts'
import { labelSettings } from '../../kernel/settings/platform-settings.ts'
import { guardrailsPart } from '../../roles/gateway/guardrail/guard-call.ts'
import { toOperation } from '../../roles/gateway/tool/aggregated-tool.ts'
import { findGuardrailProblems, openGuardrails } from './open-guardrails.ts'
import { listSiteTools } from './site-tools.ts'

export const wire: RoleWire = {
  async findStartProblems({ resolved }) {
    return findGuardrailProblems(resolved, getSettings(resolved, labelSettings).levels)
  },

  async open({ role, resources }) {
    const parts = [[guardrailsPart.name, openGuardrails(resources)]] as const
    const { resolved: settings, site } = resources
    const { deployment_profile } = site
    if (!offersTools({ role, deployment: { deployment_profile, settings } })) return { parts }
    const tools = (await listSiteTools(resources)).map(toOperation)
    return { parts, tools: () => tools }
  },
}
