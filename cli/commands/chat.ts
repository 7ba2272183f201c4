// Talks to the chat of the gateway: one message, or a conversation at a terminal, with the response as it comes.
import { isRefusal } from '../../daemon/kernel/error/errors.ts'
import { refusalFromProblem } from '../../daemon/kernel/error/problem.ts'
import type { ServiceClient } from '../client/client.ts'
import { fetchItems } from '../client/fetch-items.ts'
import { formatToolEvent } from '../format/chat.ts'
import { readAgentspaceUrl, requireAgentspaceToken } from '../options/agentspace-url.ts'
import { pageOptions, selectItems } from '../options/page-options.ts'
import { connectService, type ServiceOptionsInput, serviceOptions } from '../options/service-options.ts'
import { CommandFailure, command, type ParsedParams } from '../program/command.ts'
import { flag, text } from '../program/params.ts'
import { reportFailure } from '../program/report-failure.ts'
import { formatTable, printResult } from '../terminal/output.ts'
import { printItems } from '../terminal/print-items.ts'
import { StreamedLines } from '../terminal/streamed-lines.ts'
import type { Terminal } from '../terminal/terminal.ts'

export const definition = command({
  words: 'chat',
  summary: 'Talk to the chat of the gateway',
  notes: [
    'Without a message, reads one from stdin; at a terminal, prompts for one after the other until Ctrl-D. Ctrl-C cancels',
    'the response in progress. Tools that are called are shown on stderr. Without --site and --url, AGENTSPACE_URL names the',
    'gateway. Exit code 1: the response was cancelled.',
  ].join('\n'),
  positionals: { message: text('MESSAGE', 'Message (default: stdin)') },
  options: {
    conversation: text('ID', 'Conversation to continue (default: a new one)'),
    model: text('NAME', 'One of the models that the site allows (default: that of the site)'),
    allowChanges: flag('Allow tools that change something (default: tools that read)'),
    list: flag('List your conversations, the one with the last message first, and send no message'),
    remove: text('ID', 'Remove this conversation of yours, and send no message (default: none)'),
    ...pageOptions,
    ...serviceOptions,
  },
  example: 'platform chat "list the critical signals"',
  async run(params, terminal) {
    if (params.list && params.remove !== undefined)
      throw new CommandFailure(2, '--list and --remove exclude each other')
    if ((params.list || params.remove !== undefined) && params.message !== undefined)
      throw new CommandFailure(2, 'a message goes with neither --list nor --remove')
    if (params.list) return await listConversations(params, terminal)
    if (params.remove !== undefined) return await removeConversation(params, params.remove, terminal)
    const message = params.message ?? (await terminal.readInput())?.trim()
    if (message === '') throw new CommandFailure(2, 'the message is empty')
    const api = await connectChat(params, terminal)
    const session: ChatSession = { api, json: params.json, conversation_id: params.conversation, terms: params }
    return message === undefined ? await converse(session, terminal) : await sayOnce(session, message, terminal)
  },
})

/** The gateway of the options, else of the environment, else of the site on this machine. */
async function connectChat(params: ServiceOptionsInput, terminal: Terminal): Promise<ServiceClient> {
  const isNamed = params.url !== undefined || params.site !== undefined
  const agentspace = isNamed ? undefined : readAgentspaceUrl(terminal.env)
  if (!agentspace) return await connectService(params, terminal)
  const token = await requireAgentspaceToken(params, terminal)
  return await connectService({ ...params, url: agentspace.root.href, token, tokenFile: undefined }, terminal)
}

type ServiceParams = ServiceOptionsInput & { readonly json: boolean }

async function listConversations(
  params: ServiceParams & ParsedParams<typeof pageOptions>,
  terminal: Terminal,
): Promise<0> {
  const api = await connectChat(params, terminal)
  const page = await fetchItems(api, 'gateway.conversation.list', {}, selectItems(params))
  const columns = ['conversation_id', 'updated_at', 'messages', 'level', 'last_message']
  printItems(terminal, params.json, page, () => formatTable(terminal, page.items, columns, 'you have no conversations'))
  return 0
}

async function removeConversation(params: ServiceParams, id: string, terminal: Terminal): Promise<0> {
  const api = await connectChat(params, terminal)
  const answer = await api.call('gateway.conversation.remove', { id })
  printResult(terminal, params.json, answer, () => `removed ${id}`)
  return 0
}

type ChatSession = {
  readonly api: ServiceClient
  readonly json: boolean
  readonly terms: { readonly model: string | undefined; readonly allowChanges: boolean }
  conversation_id: string | undefined
}

async function sayOnce(session: ChatSession, message: string, terminal: Terminal): Promise<0 | 1> {
  const outcome = await say(session, message, terminal)
  if (outcome === 'cancelled') return 1
  if (!session.json) terminal.note(`Continue with --conversation ${session.conversation_id}`)
  return 0
}

async function converse(session: ChatSession, terminal: Terminal): Promise<0> {
  for (;;) {
    const message = await terminal.prompt('> ')
    if (message === undefined) break
    if (message !== '') await sayAndGoOn(session, message, terminal)
  }
  if (session.conversation_id !== undefined) terminal.note(`Continue with --conversation ${session.conversation_id}`)
  return 0
}

/** A refusal ends its message, not the conversation. */
async function sayAndGoOn(session: ChatSession, message: string, terminal: Terminal): Promise<void> {
  try {
    await say(session, message, terminal)
  } catch (error) {
    if (!isRefusal(error)) throw error
    reportFailure(terminal, error)
  }
}

/** Prints the response of a turn, or says that it was cancelled. */
async function say(session: ChatSession, message: string, terminal: Terminal): Promise<'answered' | 'cancelled'> {
  const ending = new AbortController()
  const cancel = () => ending.abort()
  process.once('SIGINT', cancel)
  try {
    await printTurn(session, message, terminal, ending.signal)
    return 'answered'
  } catch (error) {
    if (!ending.signal.aborted) throw error
    terminal.note('Cancelled: nothing of this message is kept in the conversation')
    return 'cancelled'
  } finally {
    process.off('SIGINT', cancel)
  }
}

async function printTurn(session: ChatSession, message: string, terminal: Terminal, signal: AbortSignal) {
  const { api, json, terms, conversation_id } = session
  const input = { message, conversation_id, model: terms.model, allow_changes: terms.allowChanges || undefined }
  const lines = new StreamedLines(terminal)
  try {
    for await (const { event, data } of api.stream('gateway.chat.send', input, { signal })) {
      if (event === 'problem') throw refusalFromProblem(data, 500)
      const fields = data as Readonly<Record<string, unknown>>
      if (event === 'response') {
        session.conversation_id = String(fields.conversation_id)
        if (json) terminal.print(JSON.stringify(fields))
      } else if (event !== 'delta') terminal.note(formatToolEvent(event, fields))
      else if (!json) lines.add(String(fields.text))
    }
  } finally {
    lines.end()
  }
}
