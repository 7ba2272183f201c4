// Lists proposals of artifacts.
import { listCommand } from '../../program/list-command.ts'
import { choice, text } from '../../program/params.ts'

export const definition = listCommand({
  words: 'guide proposals',
  summary: 'List proposals of artifacts, newest first',
  notes: 'A held proposal drifts from the recorded behaviour, and waits for a decision of an administrator.',
  options: {
    status: choice('STATUS', 'Only proposals in this status', ['open', 'held', 'accepted', 'dismissed']),
    type: text('TYPE', 'Only proposals of artifacts of this type'),
  },
  example: 'platform guide proposals --status held',
  operation: 'gateway.guide.proposal.list',
  input: ({ status, type }) => ({ status, artifact_type: type }),
  columns: ['proposal_id', 'status', 'artifact_type', 'confidence', 'proposed_by', 'created_at', 'rationale'],
  empty: 'no proposals match',
})
