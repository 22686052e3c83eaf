/* Passkeys: says on the page why a browser did not hand one over, in place of in its console. */
document.addEventListener('allauth.error', function (event) {
  const note = document.getElementById('passkey-failed')
  if (!note) return
  event.preventDefault()
  const why = event.detail.exception
  note.textContent = why.name === 'NotAllowedError'
    ? 'No passkey was used: it was cancelled, took too long, or this device holds none for this portal. Nothing was changed.'
    : 'The passkey could not be used: ' + why.message
  note.hidden = false
})
