// Renders a document for each row of invoices.csv. Needs nothing but Go.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"time"
)

type object = map[string]any

// batch is a batch, as the API shows it.
type batch struct {
	State                   string
	Hold                    string
	Rows, Succeeded, Failed int
}

var client = http.Client{Timeout: 10 * time.Minute}

// call sends a request and gives the answer's bytes; an error says what is wrong.
func call(method, path string, body io.Reader, headers map[string]string) ([]byte, error) {
	request, err := http.NewRequest(method, os.Getenv("PLATEN_URL")+path, body)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", "Bearer "+os.Getenv("PLATEN_KEY"))
	for name, value := range headers {
		request.Header.Set(name, value)
	}
	response, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode < 300 {
		return answer, err
	}
	return nil, refusal(response.StatusCode, answer)
}

// refusal reads the three shapes that errors have.
func refusal(status int, answer []byte) error {
	switch status {
	case 401, 403:
		var auth struct{ Error, Message string }
		if err := json.Unmarshal(answer, &auth); err != nil {
			return err
		}
		return fmt.Errorf("%s: %s", auth.Error, auth.Message)
	case 422:
		var validation struct {
			Errors []struct {
				Source struct{ Pointer string }
				Detail string
			}
		}
		if err := json.Unmarshal(answer, &validation); err != nil {
			return err
		}
		text := ""
		for _, fault := range validation.Errors {
			text += fault.Source.Pointer + ": " + fault.Detail + "\n"
		}
		return fmt.Errorf("%s", text)
	default:
		var resource struct{ Error struct{ Message string } }
		if err := json.Unmarshal(answer, &resource); err != nil {
			return err
		}
		return fmt.Errorf("%s", resource.Error.Message)
	}
}

// create sends JSON and gives the id of the created resource.
func create(path string, resource object, headers map[string]string) (string, error) {
	encoded, err := json.Marshal(resource)
	if err != nil {
		return "", err
	}
	headers["Content-Type"] = "application/json"
	answer, err := call("POST", path, bytes.NewReader(encoded), headers)
	if err != nil {
		return "", err
	}
	var created struct{ Data struct{ ID string } }
	err = json.Unmarshal(answer, &created)
	return created.Data.ID, err
}

// createBatch creates a template and a batch that renders it for each row, and gives the batch's path.
func createBatch() (string, error) {
	content := `<h1>Invoice {{ number }}</h1><p>{{ customer.name }}: {{ total|currency("EUR") }}</p>`
	// It tells the templates of several runs apart.
	name := fmt.Sprint("Invoices ", time.Now().UnixNano())
	template := object{"name": name, "content": content}
	templateID, err := create("/api/v1/templates", object{"template": template}, map[string]string{})
	if err != nil {
		return "", err
	}
	part := object{"type": "template", "content": object{"template_id": templateID}}
	creation := object{"batch": object{"name": name, "render": object{"parts": []any{part}}}}
	// With an idempotency key, a repeated request returns the same batch.
	id, err := create("/api/v1/batches", creation, map[string]string{"Idempotency-Key": name})
	return "/api/v1/batches/" + id, err
}

func uploadRows(path string) error {
	rows, err := os.Open("invoices.csv")
	if err != nil {
		return err
	}
	defer rows.Close()
	_, err = call("PUT", path+"/rows", rows, map[string]string{"Content-Type": "text/csv"})
	return err
}

func get(path string) (batch, error) {
	var shown struct{ Data batch }
	answer, err := call("GET", path, nil, nil)
	if err == nil {
		err = json.Unmarshal(answer, &shown)
	}
	return shown.Data, err
}

// wait shows the progress until the batch has ended.
func wait(path string) (batch, error) {
	deadline := time.Now().Add(time.Hour)
	// The interval grows, because requests are limited by the minute.
	for interval := time.Second; ; {
		shown, err := get(path)
		if err != nil {
			return shown, err
		}
		hold := ""
		if shown.Hold != "" {
			hold = ", on hold: " + shown.Hold
		}
		fmt.Printf("%d of %d documents, %d failed%s\n", shown.Succeeded, shown.Rows, shown.Failed, hold)
		if shown.State == "ended" || shown.State == "cancelled" {
			return shown, nil
		}
		if time.Now().After(deadline) {
			return shown, errors.New(path + " has not ended within an hour, and goes on")
		}
		time.Sleep(interval)
		if interval < 15*time.Second {
			interval *= 2
		}
	}
}

func printErrors(path string) error {
	answer, err := call("GET", path+"/errors", nil, nil)
	if err != nil {
		return err
	}
	for lines := json.NewDecoder(bytes.NewReader(answer)); lines.More(); {
		var failed struct {
			Row   int
			Error struct{ Code, Message string }
		}
		if err := lines.Decode(&failed); err != nil {
			return err
		}
		fmt.Fprintf(os.Stderr, "Row %d: %s: %s\n", failed.Row, failed.Error.Code, failed.Error.Message)
	}
	return nil
}

// saveResults saves the outcome and render of each row. GET /api/v1/renders/{id} locates the document of a render.
func saveResults(path string) error {
	results, err := call("GET", path+"/results?format=csv", nil, nil)
	if err != nil {
		return err
	}
	return os.WriteFile("results.csv", results, 0o644)
}

func run() error {
	path, err := createBatch()
	if err != nil {
		return err
	}
	if err := uploadRows(path); err != nil {
		return err
	}
	ended, err := wait(path)
	if err != nil {
		return err
	}
	if err := printErrors(path); err != nil {
		return err
	}
	if err := saveResults(path); err != nil {
		return err
	}
	if ended.Succeeded < ended.Rows {
		return errors.New("some rows have no document")
	}
	return nil
}

func main() {
	if err := run(); err != nil {
		log.Fatal(err)
	}
}
