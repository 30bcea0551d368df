@rem The scripts of package.json begin with a POSIX shell's `exec`, which Windows does not have.
@%*
