// Dismisses a proposal of an artifact.
import { proposalCommand } from '../../program/guide-command.ts'

export const definition = proposalCommand({
  words: 'guide dismiss',
  summary: 'Dismiss a proposal, so that its artifact is forgotten',
  operation: 'gateway.guide.proposal.dismiss',
  done: ({ artifact_id }) => `${artifact_id} is forgotten`,
  example: 'platform guide dismiss proposal_… --reason "checked against the traces"',
})
