// Talks to the guidance layer, as an administrator.
import { formatToolEvent } from '../../format/chat.ts'
import { connectService, serviceOptions } from '../../options/service-options.ts'
import { CommandFailure, command } from '../../program/command.ts'
import { text } from '../../program/params.ts'
import { printResult } from '../../terminal/output.ts'

export const definition = command({
  words: 'guide chat',
  summary: 'Ask the guidance layer about what it has learnt, and change it',
  notes: [
    'A message may be a command, such as `demote_artifact(artifact_1)`, which needs no model. In any other message a change',
    'needs the word for it and the id of its object. Without a message, reads one from stdin.',
  ].join('\n'),
  positionals: { message: text('MESSAGE', 'Message, or command (default: stdin)') },
  options: {
    conversation: text('ID', 'Conversation to continue (default: a new one)'),
    ...serviceOptions,
  },
  example: 'platform guide chat "list_artifacts(status=active)"',
  async run(params, terminal) {
    const message = params.message ?? (await terminal.readInput())?.trim()
    if (message === undefined || message === '') throw new CommandFailure(2, 'there is no message')
    const api = await connectService(params, terminal)
    const answer = await api.call('gateway.guide.chat.send', { message, conversation_id: params.conversation })
    for (const use of answer.tool_calls as readonly Readonly<Record<string, unknown>>[])
      terminal.note(formatToolEvent('tool_result', use))
    printResult(terminal, params.json, answer, () => String(answer.response))
    if (!params.json) terminal.note(`Continue with --conversation ${answer.conversation_id}`)
    return 0
  },
})
