// Lists who may contribute, from the profile and as changed since.
import { listCommand } from '../../../program/list-command.ts'

export const definition = listCommand({
  words: 'consensus contributor list',
  summary: 'List who may contribute',
  example: 'platform consensus contributor list',
  operation: 'consensus.contributor.list',
  columns: ['name', 'signer_keys', 'spoken_for_by', 'origin', 'changed_by', 'changed_at'],
  empty: 'nobody is enrolled: platform consensus contributor set NAME --keys ID',
})
