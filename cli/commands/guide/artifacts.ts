// Lists artifacts of guidance.
import { artifactColumns } from '../../format/guide.ts'
import { listCommand } from '../../program/list-command.ts'
import { choice, text } from '../../program/params.ts'

export const definition = listCommand({
  words: 'guide artifacts',
  summary: 'List what the guidance layer has learnt, the artifact that changed last first',
  notes: 'Types: ToolPairingHint, FailurePattern, PromptShim, DriftEvent and others, as in docs/guidance-artifacts.md.',
  options: {
    type: text('TYPE', 'Only artifacts of this type'),
    status: choice('STATUS', 'Only artifacts in this status; default all but forgotten', [
      'proposed',
      'active',
      'demoted',
      'forgotten',
    ]),
    service: text('NAME', 'Only artifacts of this service'),
    tool: text('NAME', 'Only artifacts of this tool'),
    actor: text('ACTOR', 'Only artifacts that this actor changed last, such as curator_auto or admin:ann'),
  },
  example: 'platform guide artifacts --status active',
  operation: 'gateway.guide.artifact.list',
  input: ({ type, status, service, tool, actor }) => ({
    ...{ type, status, service_name: service, tool_name: tool, actor },
  }),
  columns: artifactColumns,
  empty: 'no artifacts match',
})
