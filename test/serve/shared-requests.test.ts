// The requirements of requests.test.ts on a listener that forwards as well.
import '../support/echo/share-listener.ts'
import './requests.test.ts'
