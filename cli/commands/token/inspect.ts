// Shows the claims of a token and whether it is valid here; a token of an identity provider is checked with its current keys.
import { offline } from '../../../daemon/offline/offline.ts'
import { readToken } from '../../options/read-token.ts'
import { jsonOption, requireOwnSite, siteOption } from '../../options/site-options.ts'
import { CommandFailure, command } from '../../program/command.ts'
import { text } from '../../program/params.ts'
import { colourText, formatFields, printResult } from '../../terminal/output.ts'

export const definition = command({
  words: 'token inspect',
  summary: 'Inspect a token and check whether it is valid',
  notes: 'Exit code 5: the token is not valid.',
  positionals: { token: text('TOKEN', 'Token. Prefer stdin or PLATFORM_TOKEN: arguments are visible to other users') },
  options: { ...siteOption, ...jsonOption },
  example: 'platform token inspect < token.txt',
  async run(params, terminal) {
    const folder = requireOwnSite(params, terminal)
    const token = await readToken(params.token, terminal)
    const { inspectToken } = await offline.tokens()
    const inspection = await inspectToken(folder, terminal.env, token, Date.now())
    if (!inspection) throw new CommandFailure(2, 'the input is not a token (a JWT)')
    const { state, reason, claims } = inspection
    const isValid = state === 'valid'
    printResult(terminal, params.json, inspection, () =>
      formatFields(terminal, {
        state: colourText(
          terminal,
          isValid ? 'green' : 'red',
          reason && reason !== state ? `${state} (${reason})` : state,
        ),
        ...claims,
        iat: formatClaimTime(claims.iat),
        exp: formatClaimTime(claims.exp),
      }),
    )
    return isValid ? 0 : 5
  },
})

function formatClaimTime(seconds: unknown): string | undefined {
  if (typeof seconds !== 'number' || Math.abs(seconds) > 8.64e12) return undefined
  return new Date(seconds * 1000).toISOString()
}
