// Opens the intake of the guidance layer: the queue of observations, the graphs of this process, the learner, and the file of dead letters.
import type { SiteResources } from '../../boot/site-resources.ts'
import { getSettings } from '../../kernel/settings/get-settings.ts'
import { ssoSettings } from '../../kernel/settings/sso-settings.ts'
import { GraphBook } from '../../roles/gateway/guide/graph/graph-book.ts'
import { Learner } from '../../roles/gateway/guide/learning/learner.ts'
import { learningPart } from '../../roles/gateway/guide/learning/parts.ts'
import {
  learnerPart,
  type ObservationLearner,
  type ObserverParts,
  observerPart,
} from '../../roles/gateway/guide/observation/parts.ts'
import { ObservationQueue } from '../../roles/gateway/guide/observation/queue.ts'
import { guideSettings } from '../../roles/gateway/guide/settings.ts'
import { synthesisPart } from '../../roles/gateway/guide/synthesis/parts.ts'
import { SynthesisQueue } from '../../roles/gateway/guide/synthesis/synthesis-queue.ts'
import { settings as gatewaySettings } from '../../roles/gateway/settings.ts'
import { deadLetterFile } from './dead-letter-file.ts'

export function openObserver({
  resolved,
  random,
}: Pick<SiteResources, 'resolved' | 'random'>): readonly (readonly [string, unknown])[] {
  const { ingest_queue_maxsize, ingest_dead_letter_path, model_url, synthesis_max_per_hour } = getSettings(
    resolved,
    guideSettings,
  )
  const { client_id } = getSettings(resolved, ssoSettings)
  const observer: ObserverParts = {
    ...{ attempt: random(16), tasks: [], queue: new ObservationQueue(ingest_queue_maxsize), book: new GraphBook() },
    deadLetters: ingest_dead_letter_path === undefined ? undefined : deadLetterFile(ingest_dead_letter_path),
    principals: new Set([
      ...Object.values(getSettings(resolved, gatewaySettings).registrants),
      ...(client_id === undefined ? [] : [client_id]),
    ]),
    instants: { at: 0, count: 0, second: -1, text: '' },
    seenTraces: new WeakSet(),
    stored: { observations: 0, repeats: 0, invalid: 0, failed: 0, last_batch_ms: 0 },
    done: { snapshot_slot: -1, maintenance_round: -1 },
  }
  const learner = new Learner()
  const syntheses = new SynthesisQueue(synthesis_max_per_hour)
  return [
    [observerPart.name, observer],
    [learnerPart.name, { learner: model_url === undefined ? learner : joinLearners(learner, syntheses) }],
    [synthesisPart.name, syntheses],
    [learningPart.name, learner],
  ]
}

/** A site without a model keeps no observations for one. */
function joinLearners(...learners: readonly ObservationLearner[]): ObservationLearner {
  return {
    onStored(batch) {
      for (const learner of learners) learner.onStored(batch)
    },
  }
}
