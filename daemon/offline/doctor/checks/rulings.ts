// Checks that matches hear the rulings of the sessions that are about them, and says where no match can be put to consensus.
import { getSettings } from '../../../kernel/settings/get-settings.ts'
import { platformSettings } from '../../../kernel/settings/platform-settings.ts'
import { settings as consensusSettings } from '../../../roles/consensus/settings.ts'
import { resolveProfile } from '../../site/site-profile.ts'
import type { DoctorContext } from '../examine-site.ts'
import { type DoctorFinding, reportOk, reportWarning } from '../finding.ts'

export function checkRulings({ folder, env }: DoctorContext): DoctorFinding[] {
  const resolved = resolveProfile(folder, env)
  const { roles } = getSettings(resolved, platformSettings)
  const { sinks } = getSettings(resolved, consensusSettings)
  const [runsConsensus, runsResolution] = ['consensus', 'resolution'].map((name) => roles.includes(name))
  const sink = sinks.find(({ kind }) => kind === 'resolution')
  if (sink && runsConsensus && !runsResolution) {
    const remedy = `add resolution to platform.roles in ${folder.profile}, or remove the sink`
    return [
      reportWarning(
        'rulings.not_taken',
        `consensus.sinks names ${sink.name}, and no role resolution takes its rulings`,
        remedy,
      ),
    ]
  }
  if (!runsResolution) return []
  if (runsConsensus) return [reportOk('rulings', 'consensus passes its rulings on matches to resolution')]
  return [reportOk('rulings', 'matches cannot be put to consensus: platform.roles has no consensus')]
}
