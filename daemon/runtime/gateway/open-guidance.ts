// Opens the guidance that a process attaches: the artifacts and the lineage that it holds in memory.
import type { SiteResources } from '../../boot/site-resources.ts'
import { getSettings } from '../../kernel/settings/get-settings.ts'
import type { SettingValues } from '../../kernel/settings/settings.ts'
import { ArtifactIndex } from '../../roles/gateway/guide/guidance/artifact-index.ts'
import { type GuidanceParts, guidancePart } from '../../roles/gateway/guide/guidance/parts.ts'
import type { AttachableType } from '../../roles/gateway/guide/guidance/rules.ts'
import { ToolCatalogues } from '../../roles/gateway/guide/guidance/usable-tools.ts'
import { LineageQueue } from '../../roles/gateway/guide/lineage/lineage-queue.ts'
import { guideSettings } from '../../roles/gateway/guide/settings.ts'

/** Of responses and calls that wait for their lineage to be stored. */
const max_waiting_attachments = 10_000

export function openGuidance({ resolved, site }: Pick<SiteResources, 'resolved' | 'site'>): readonly [string, unknown] {
  const settings = getSettings(resolved, guideSettings)
  const guidance: GuidanceParts = {
    index: new ArtifactIndex({
      caps: readCaps(settings),
      max_bytes: settings.attach_max_bytes,
      max_tokens: {
        l1: settings.attach_max_tokens_l1,
        l2: settings.attach_max_tokens_l2,
        l3: settings.attach_max_tokens_l3,
      },
      policy: site.labels,
    }),
    catalogues: new ToolCatalogues(),
    lineage: new LineageQueue(max_waiting_attachments),
  }
  return [guidancePart.name, guidance]
}

/** Of the types for which the interface document names no cap. */
const other_cap = 5

function readCaps(settings: SettingValues<typeof guideSettings>): Readonly<Record<AttachableType, number>> {
  return {
    CapabilityMap: other_cap,
    DecisionTrajectory: other_cap,
    FailurePattern: settings.attach_cap_failure_pattern,
    IntentPattern: settings.attach_cap_intent_pattern,
    IntentSchema: other_cap,
    PromptShim: settings.attach_cap_prompt_shim,
    ServiceConnectionHint: settings.attach_cap_service_connection_hint,
    SpecFragment: settings.attach_cap_spec_fragment,
    ToolPairingHint: settings.attach_cap_tool_pairing_hint,
  }
}
