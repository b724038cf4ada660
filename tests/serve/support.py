"""Servers, requests and models for the tests of enhope serve. Only loopback addresses are used."""

import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time

ENHOPE = os.path.abspath(sys.argv[1])


def run(*arguments, **options):
    """Runs the command and returns its standard output."""
    return subprocess.run([ENHOPE, *arguments], check=True, capture_output=True, text=True, **options).stdout


class Server:
    """A server on a port that the system chooses. Use it with `with`."""

    def __init__(self, model, *options):
        self.process = subprocess.Popen([ENHOPE, "serve", model, "--port", "0", *options], stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        match = re.fullmatch(r"serving (.*) at http://127\.0\.0\.1:(\d+)\n", line)
        if not match:
            sys.exit(f"the server printed {line!r} {self.process.stderr.read()!r}")
        self.name, self.port = match.group(1), int(match.group(2))
        self.errors = []
        self.reader = threading.Thread(target=lambda: self.errors.extend(self.process.stderr), daemon=True)
        self.reader.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def stop(self):
        """Ends the server by SIGTERM and returns what it has written to standard error."""
        if self.process.stdout.closed:
            return "".join(self.errors)
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(timeout=60)
        self.reader.join()
        self.output = self.process.stdout.read()
        self.process.stdout.close()
        self.process.stderr.close()
        text = "".join(self.errors)
        assert code == 0, f"exit {code}: {text}"
        return text

    def connect(self, timeout=30):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)

    def socket(self, text=b""):
        """A plain connection that has sent some text."""
        client = socket.create_connection(("127.0.0.1", self.port), timeout=30)
        client.sendall(text)
        return client

    def get(self, path, method="GET"):
        """(code, headers, body)"""
        client = self.connect()
        client.request(method, path)
        answer = client.getresponse()
        result = answer.status, dict(answer.getheaders()), answer.read()
        client.close()
        return result

    def json(self, path):
        code, headers, body = self.get(path)
        assert code == 200 and headers["Content-Type"] == "application/json", (code, headers)
        return json.loads(body)

    def post(self, body, client=None, path=None):
        """(code, JSON) of an inference request; body is an object or bytes."""
        own = client or self.connect()
        own.request("POST", path or f"/v2/models/{self.name}/infer",
                    body if isinstance(body, bytes) else json.dumps(body).encode())
        answer = own.getresponse()
        text = answer.read()
        if not client:
            own.close()
        return answer.status, json.loads(text)

    def infer(self, inputs, outputs=None, **more):
        """The outputs by name."""
        body = {"inputs": inputs, **more}
        if outputs:
            body["outputs"] = [{"name": name} for name in outputs]
        code, answer = self.post(body)
        assert code == 200, (code, answer)
        return {output["name"]: output for output in answer["outputs"]}

    def metric(self, name):
        for line in self.get("/metrics")[2].decode().splitlines():
            if line.startswith(name + " "):
                return float(line.split()[1])
        raise AssertionError(f"no metric {name}")


def wait_until(condition, seconds=20):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.02)


def tensor(values, shape, datatype="FP32", name="input"):
    return {"name": name, "shape": shape, "datatype": datatype, "data": values}


def column(name, datatype, values):
    return tensor(values, [len(values)], datatype, name)


def run_tests(tests):
    failed = 0
    for test in tests:
        began = time.monotonic()
        try:
            test()
            print(f"passed: {test.__name__} ({time.monotonic() - began:.1f} s)", flush=True)
        except Exception as error:  # report all failures
            import traceback
            traceback.print_exc()
            print(f"failed: {test.__name__}: {error}", flush=True)
            failed += 1
    sys.exit(failed > 0)
