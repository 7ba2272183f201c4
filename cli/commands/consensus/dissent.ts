// Shows why sessions could not agree: the list of dissents, or one of them told as prose.
import { type Client, listed } from '../../client/client.ts'
import { command } from '../../command.ts'
import { printable, show, table } from '../../output.ts'
import { flag, otherwise, text, whole } from '../../params.ts'
import { service, serviceOptions } from '../../service.ts'

export const definition = command({
  words: 'consensus dissent',
  summary: 'list dissents, or explain one',
  takes: { id: text('ID', 'a dissent, or a session whose last dissent is meant; without it all are listed') },
  options: {
    open: flag('only those still open'),
    markdown: flag('the explanation as Markdown'),
    limit: otherwise(50, whole('COUNT', 'at most so many', 1, 100_000)),
    ...serviceOptions,
  },
  example: 'platform consensus dissent ses_…',
  async run(given, terminal) {
    const api = await service(given, terminal)
    if (given.id === undefined) {
      const items = await listed(
        api,
        'consensus.dissent.list',
        { status: given.open ? 'open' : undefined },
        given.limit,
      )
      const columns = ['id', 'session_id', 'reason', 'method', 'conflict', 'status', 'created_at']
      show(terminal, given.json, { items }, () => table(terminal, items, columns, 'there is no dissent'))
      return 0
    }
    const id = await dissentOf(api, given.id)
    if (given.json) {
      terminal.print(printable(JSON.stringify(await api.call('consensus.dissent.get', { id }))))
      return 0
    }
    const type = given.markdown ? 'text/markdown' : 'text/plain'
    terminal.print(printable((await api.text('consensus.dissent.explain', { id }, type)).trimEnd()))
    return 0
  },
})

/** A session stands for its last dissent. */
async function dissentOf(api: Client, id: string): Promise<string> {
  if (!id.startsWith('ses_')) return id
  const all = await listed(api, 'consensus.dissent.by-session', { session_id: id }, Number.POSITIVE_INFINITY)
  return String(all.at(-1)?.id ?? id)
}
