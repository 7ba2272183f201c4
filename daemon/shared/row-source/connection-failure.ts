// Why a server cannot be reached, in the same words for every protocol, without its address.
import { RowSourceError } from './row-source.ts'

/** `code`: of the error of a socket, of its lookup or of TLS. */
export function describeConnectionFailure(code: string | undefined): RowSourceError {
  if (code === 'ADDRESS_DENIED') return new RowSourceError('the profile does not permit the address of the server')
  if (code !== undefined && isCertificateCode(code))
    return new RowSourceError(`the server has no certificate that the connection trusts (${code})`)
  const shown = code !== undefined && /^[A-Z][A-Z0-9_]{2,63}$/.test(code) ? ` (${code})` : ''
  return new RowSourceError(`the server did not answer${shown}`, false)
}

/** As Node names the results of verification. */
function isCertificateCode(code: string): boolean {
  return code === 'ERR_TLS_CERT_ALTNAME_INVALID' || /(^|_)(CERT|CRL|SIGNATURE|CHAIN|CA|ISSUER)(_|$)/.test(code)
}

export const refused_user = 'the server refuses the user or the secret'
export const no_tls = 'the server offers no TLS: set it up there, or set tls of the connection to off'
export const open_secret =
  'the server requests the secret as it is, which is sent by TLS alone: set tls of the connection to verify'
