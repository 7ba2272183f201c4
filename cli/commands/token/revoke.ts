// Revokes one token, or all that a subject has; in force at once on the whole site.
import { offline } from '../../../daemon/boot/offline.ts'
import { command, Failure } from '../../command.ts'
import { show } from '../../output.ts'
import { otherwise, text } from '../../params.ts'
import { jsonOption, requireSite, siteOption } from '../../site.ts'
import { givenToken } from '../../token-text.ts'

export const definition = command({
  words: 'token revoke',
  summary: 'revoke a token, or all that a subject holds now',
  takes: { jti: text('JTI', 'the token’s id; without it and --subject, the token itself is read from stdin') },
  options: {
    subject: text('SUBJECT', 'revoke every token issued to it until now'),
    reason: otherwise('revoked by an operator', text('TEXT', 'for the record')),
    ...siteOption,
    ...jsonOption,
  },
  example: 'platform token revoke --subject alice --reason "laptop lost"',
  async run(given, terminal) {
    const { jti, subject, reason } = given
    if (jti !== undefined && subject !== undefined) throw new Failure(2, 'give a token’s id or --subject, not both')
    const folder = requireSite(given, terminal)
    const { revoke, jtiOf } = await offline.tokens()
    const id = subject === undefined ? (jti ?? jtiOf(await givenToken(undefined, terminal))) : undefined
    if (subject === undefined && id === undefined) throw new Failure(2, 'this is no token')
    if (id?.includes('.') && jtiOf(id) !== undefined) {
      throw new Failure(2, 'this is a whole token, not its id', 'pipe it in: others can see argument lists')
    }
    const what = id === undefined ? { subject: subject ?? '' } : { jti: id }
    await revoke(folder, terminal.env, what, reason, Date.now())
    show(terminal, given.json, { revoked: what, reason }, () => `revoked ${id ?? `every token of ${subject}`}`)
    return 0
  },
})
