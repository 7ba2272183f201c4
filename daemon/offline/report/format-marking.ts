// The classification of a page, as the label of its content states it.
import type { Label } from '../../kernel/label/label.ts'
import { abridge } from '../../shared/report/markup.ts'

const max_marking_characters = 400

export function formatMarking({ policy, level, categories, releasable_to, originator }: Label): string {
  const audience = (releasable_to ?? [originator]).join(', ')
  return abridge(
    `${[policy, level, ...categories].join(' ')}, releasable to ${audience || 'nobody'}`,
    max_marking_characters,
  )
}
