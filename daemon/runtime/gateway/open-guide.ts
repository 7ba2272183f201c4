// Opens the guidance layer: its intake, the model of its embeddings, and what it attaches.
import { parseSchedule } from '../../../adapters/host/schedule/cron.ts'
import type { SiteResources } from '../../boot/site-resources.ts'
import { getSettings } from '../../kernel/settings/get-settings.ts'
import { labelSettings } from '../../kernel/settings/platform-settings.ts'
import type { ProfileProblem } from '../../kernel/settings/profile-error.ts'
import type { ResolvedSettings } from '../../kernel/settings/settings.ts'
import { guideSettings } from '../../roles/gateway/guide/settings.ts'
import { GuideCounts, guideCountsPart } from '../../roles/gateway/guide/stats/guide-counts.ts'
import { hintScheduleParserPart } from '../../roles/gateway/guide/workflow/schedule-interval.ts'
import { findEmbedderProblems, openEmbedder } from './open-embedder.ts'
import { openGuidance } from './open-guidance.ts'
import { openObserver } from './open-observer.ts'

export function findGuideProblems(resolved: ResolvedSettings): ProfileProblem[] {
  return [...findEmbedderProblems(resolved), ...findCeilingProblems(resolved)]
}

function findCeilingProblems(resolved: ResolvedSettings): ProfileProblem[] {
  const { model_label_ceiling } = getSettings(resolved, guideSettings)
  const { levels } = getSettings(resolved, labelSettings)
  if (model_label_ceiling === undefined || levels.includes(model_label_ceiling)) return []
  return [{ path: 'guide.model_label_ceiling', message: `must be a level of labels.levels: ${levels.join(', ')}` }]
}

export function openGuide(
  resources: Pick<SiteResources, 'resolved' | 'random' | 'site'>,
): readonly (readonly [string, unknown])[] {
  return [
    ...openObserver(resources),
    openEmbedder(resources.resolved),
    openGuidance(resources),
    [guideCountsPart.name, new GuideCounts()],
    [hintScheduleParserPart.name, parseSchedule],
  ]
}
