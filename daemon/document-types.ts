// The types of documents that roles have signed with the key of the site, joined from the outlines of all roles.
import { joinDocumentTypes } from './kernel/cryptography/document-type.ts'
import { roles } from './roles.ts'

export const documentTypes = joinDocumentTypes(roles)
