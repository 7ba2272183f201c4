// Accepts a proposal of an artifact.
import { proposalCommand } from '../../program/guide-command.ts'

export const definition = proposalCommand({
  words: 'guide accept',
  summary: 'Accept a proposal, so that its artifact is attached',
  operation: 'gateway.guide.proposal.accept',
  done: ({ artifact_id }) => `${artifact_id} is active`,
  example: 'platform guide accept proposal_… --reason "checked against the traces"',
})
