// Revokes one token, or all current tokens of a subject; takes effect at once on the whole site.
import { offline } from '../../../daemon/offline/offline.ts'
import { readToken } from '../../options/read-token.ts'
import { jsonOption, requireOwnSite, siteOption } from '../../options/site-options.ts'
import { CommandFailure, command } from '../../program/command.ts'
import { text, withDefault } from '../../program/params.ts'
import { printResult } from '../../terminal/output.ts'

export const definition = command({
  words: 'token revoke',
  summary: 'Revoke a token, or all current tokens of a subject',
  positionals: { jti: text('JTI', 'Id of the token (default without --subject: read the token from stdin)') },
  options: {
    subject: text('SUBJECT', 'Revoke every token issued to this subject until now'),
    reason: withDefault('revoked by an operator', text('TEXT', 'Reason, kept in the audit chain')),
    ...siteOption,
    ...jsonOption,
  },
  example: 'platform token revoke --subject alice --reason "laptop lost"',
  async run(params, terminal) {
    const { jti, subject, reason } = params
    if (jti !== undefined && subject !== undefined)
      throw new CommandFailure(2, 'a token id and --subject cannot be combined: pass one of them')
    const folder = requireOwnSite(params, terminal)
    const { revokeToken, readTokenId } = await offline.tokens()
    const id = subject === undefined ? (jti ?? readTokenId(await readToken(undefined, terminal))) : undefined
    if (subject === undefined && id === undefined) throw new CommandFailure(2, 'the input is not a token (a JWT)')
    if (id?.includes('.') && readTokenId(id) !== undefined) {
      throw new CommandFailure(
        2,
        'this is a whole token, not its id',
        'pipe it to stdin: arguments are visible to other users',
      )
    }
    const target = id === undefined ? { subject: subject ?? '' } : { jti: id }
    await revokeToken(folder, terminal.env, target, reason, Date.now())
    printResult(
      terminal,
      params.json,
      { revoked: target, reason },
      () => `revoked ${id ?? `every token of ${subject}`}`,
    )
    return 0
  },
})
